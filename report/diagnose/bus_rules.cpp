#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/diagnose/bus_judges.hpp"
#include "report/diagnose/cores.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// From this rate on address translation costs.
constexpr double kFastLink_bps = 100e9;
constexpr double kCpuBound = 0.8;
/// Another core changes goodput by that much where the node is wrong.
constexpr double kNodeGain = 1.05;

std::string core_of(Look& look, End end) {
  const auto core = look.setting_text(end, "tcp.cpu");
  return core && *core != "auto" ? "CPU " + *core : "a CPU of the kernel's choice";
}

/// The CPU that was busiest at an end during the row, with its seconds.
std::optional<int> busiest_cpu(Look& look, End end) {
  std::optional<int> found;
  double most = 0;
  for (const auto& [key, seconds] : look.totals_below(end, "cpu.")) {
    const auto cpus =
        key.ends_with(".busy_s") ? cpus_of(key.substr(4, key.rfind('.') - 4)) : std::vector<int>{};
    if (cpus.size() == 1 && seconds > most) {
      found = cpus.front();
      most = seconds;
    }
  }
  return found;
}

/// Whether the busiest CPU is one of the card's own node; nothing where that is not known.
std::optional<bool> ran_near_the_card(Look& look, End end) {
  const auto near = cpus_of(look.fact_text(end, "if.*.local_cpus").value_or(""));
  const auto busiest = busiest_cpu(look, end);
  return near.empty() || !busiest ? std::nullopt
                                  : std::optional(std::ranges::find(near, *busiest) != near.end());
}

std::vector<std::string> own_node(const Look& look, End end, const std::optional<double>& node) {
  const std::string cpus =
      node ? fmt::format("numactl -N {0:.0f} -m {0:.0f}", *node) : "numactl -N NODE -m NODE";
  return {fmt::format("on {}: {} netbench agent", look.host_name(end), cpus),
          fmt::format("pin the interrupts of {} to that node", look.interface(end))};
}

constexpr const char* kOtherNode =
    "threads or their memory are on another NUMA node than the card: ";

// Which CPU was busy is a hint; an experiment on a core of the card's node decides.
Verdict wrong_node(Look& look, End end) {
  const auto nodes = look.fact(end, "numa.node_count");
  if (!nodes) {
    return unknown(fmt::format("{}: number of NUMA nodes not known", look.host_name(end)));
  }
  if (*nodes <= 1) {
    return silent(fmt::format("{}: one NUMA node", look.host_name(end)));
  }
  const auto node = look.fact(end, "if.*.numa_node");
  const Intervention* moved = look.moved("other-core");
  const std::string where =
      fmt::format("{}: threads on {}, card on node {}", look.host_name(end), core_of(look, end),
                  node ? fmt::format("{:.0f}", *node) : "unknown");
  if (moved == nullptr) {
    const auto near = ran_near_the_card(look, end);
    if (!near) {
      return unknown(where + "; not tried on another core");
    }
    const std::string why =
        fmt::format("{}; CPU {} was the busiest", where, *busiest_cpu(look, end));
    return *near ? silent(why)
                 : milder(fires(Confidence::likely, 0.6, why, kOtherNode + why,
                                own_node(look, end, node)));
  }
  const std::string why = fmt::format("{}; goodput x {:.2f} on another", where, moved->ratio);
  if (moved->ratio_low < kNodeGain) {
    return silent(why);
  }
  return fires(Confidence::confirmed, std::min(1.0, 1 / moved->ratio + 0.2), why, kOtherNode + why,
               own_node(look, end, node));
}

Verdict translation_at(Look& look, End end) {
  const auto kind = look.fact_text(end, "if.*.iommu_group_type");
  const auto speed = look.fact(end, "if.*.speed_bps");
  if (!kind || !speed) {
    return unknown(fmt::format("{}: IOMMU or link rate not known", device_of(look, end)));
  }
  const std::string why = fmt::format("{}: IOMMU group of type {}, link of {}",
                                      device_of(look, end), *kind, format_bits_per_second(*speed));
  if (!kind->starts_with("DMA") || *speed < kFastLink_bps) {
    return silent(why);
  }
  const auto busy = nearest_bound(look, {"sender-thread", "receiver-thread", "softirq", "pcie"});
  if (busy.value_or(0) < kCpuBound) {
    return silent(why + "; neither a core nor the slot is full");
  }
  return fires(
      Confidence::possible, 0.5, why,
      "every buffer is mapped by the IOMMU, which costs up to a fifth at such rates: " + why,
      {fmt::format("on {}: add iommu=pt to the kernel's command line and reboot",
                   look.host_name(end))});
}

bool has_gpu(Look& look, End end) {
  return look.fact_text(end, "nvidia.driver").has_value() ||
         !fact_names(look, end, "gpu.", ".name").empty();
}

Verdict redirection_at(Look& look, End end) {
  const auto bridges = fact_names(look, end, "pcie.", ".acs_redirects");
  if (bridges.empty()) {
    return unknown(fmt::format("{}: access control of the bridges not read", look.host_name(end)));
  }
  if (!has_gpu(look, end)) {
    return silent(
        fmt::format("{}: no GPU that would talk to the card directly", look.host_name(end)));
  }
  const auto redirects = std::ranges::find_if(bridges, [&](const std::string& bdf) {
    return look.fact(end, fmt::format("pcie.{}.acs_redirects", bdf)) == 1.0;
  });
  if (redirects == bridges.end()) {
    return silent(fmt::format("{}: no bridge redirects peer-to-peer", look.host_name(end)));
  }
  const std::string why = fmt::format("bridge {} of {} redirects requests or completions",
                                      *redirects, look.host_name(end));
  if (look.fact(end, "host.virtual_machine") == 1.0) {
    return silent(why + "; a virtual machine needs it");
  }
  return fires(
      Confidence::likely, 0.8, why,
      "a bridge sends what devices tell each other through the root complex (access "
      "control services), which slows or hangs GPU peer-to-peer: " +
          why,
      {fmt::format("on {}: setpci -s {} ECAP_ACS+0x6.w=0000", look.host_name(end), *redirects),
       "or switch ACS off in the BIOS"});
}

// AER counters of sysfs (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats), and mlx5's
// own.
Verdict bus_errors(Look& look, End end) {
  const CounterSum errors =
      sum_counters(look, end, {{"aer.", ""}, {"ethtool.*.", "pci_signal_integrity"}});
  if (!errors.read) {
    return unknown(fmt::format("{}: PCI Express errors not counted", device_of(look, end)));
  }
  if (errors.total <= 0) {
    return silent(fmt::format("{}: no PCI Express error", device_of(look, end)));
  }
  const bool harmless =
      look.total(end, "aer.*.nonfatal").value_or(0) + look.total(end, "aer.*.fatal").value_or(0) <=
          0 &&
      errors.total < 10;
  Verdict verdict = fires(harmless ? Confidence::possible : Confidence::likely, 0.8,
                          fmt::format("{}: {}", device_of(look, end), errors.names),
                          fmt::format("the PCI Express link of {} had errors during the run ({})",
                                      device_of(look, end), errors.names),
                          {fmt::format("on {}: dmesg | grep -i aer", look.host_name(end)),
                           "reseat the card or riser; update the firmware of card and retimer"});
  return harmless ? milder(std::move(verdict)) : verdict;
}

Verdict power_saving(Look& look, End end) {
  const auto policy = look.fact_text(end, "pcie.aspm_policy");
  if (!policy) {
    return unknown(fmt::format("{}: ASPM policy not read", look.host_name(end)));
  }
  const auto bracket = policy->find('[');
  const std::string chosen = bracket == std::string::npos
                                 ? *policy
                                 : policy->substr(bracket + 1, policy->find(']') - bracket - 1);
  const std::string why = fmt::format("{}: ASPM policy {}", look.host_name(end), chosen);
  if (!chosen.starts_with("power")) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.2, why,
               "PCI Express links sleep between transfers, which adds latency: " + why,
               {fmt::format("on {}: echo performance > /sys/module/pcie_aspm/parameters/policy",
                            look.host_name(end))});
}

Verdict judge_back_pressure(Look& look) {
  const CounterSum stalls = sum_counters(look, End::receiver,
                                         {{"ethtool.*.", "outbound_pci_stalled_wr_events"},
                                          {"ethtool.*.", "outbound_pci_buffer_overflow"}});
  if (!stalls.read) {
    return unknown(fmt::format("{}: no driver counters", device_of(look, End::receiver)));
  }
  if (stalls.total <= 0) {
    return silent(
        fmt::format("{}: the host takes what the card brings", device_of(look, End::receiver)));
  }
  return fires(
      Confidence::likely, 0.8, fmt::format("{}: {}", device_of(look, End::receiver), stalls.names),
      fmt::format("the host takes data too slowly from {} ({}): memory, NUMA node, slot or "
                  "IOMMU",
                  device_of(look, End::receiver), stalls.names),
      {fmt::format("numactl: run on the node of {}", look.interface(End::receiver)),
       "a wider slot; iommu=pt; faster or interleaved memory"});
}

Verdict judge_node(Look& look) { return either_end(look, wrong_node); }
Verdict judge_translation(Look& look) { return either_end(look, translation_at); }
Verdict judge_redirection(Look& look) { return either_end(look, redirection_at); }
Verdict judge_bus_errors(Look& look) { return either_end(look, bus_errors); }
Verdict judge_power_saving(Look& look) { return either_end(look, power_saving); }

constexpr std::array kSharedLimit = {Prediction{"more-streams", 0.85, 1.15}};
constexpr std::array kFarNode = {Prediction{"other-core", kNodeGain}};

constexpr auto kWarning = Severity::warning;
constexpr auto kInfo = Severity::info;

constexpr std::array kRules = {
    Rule{"bus.numa", "P01", Scope::stream, Kind::limit, kWarning, judge_node, kFarNode},
    Rule{"bus.slot-full", "P02", Scope::stream, Kind::limit, kWarning, judge_slot_full,
         kSharedLimit},
    Rule{"bus.slot-narrow", "P02", Scope::hosts, Kind::defect, kWarning, judge_narrow_slot},
    Rule{"bus.slot-degraded", "P02", Scope::hosts, Kind::note, kInfo, judge_degraded_slot},
    Rule{"bus.payload", "P03", Scope::hosts, Kind::note, kInfo, judge_payload},
    Rule{"bus.iommu", "P04", Scope::stream, Kind::limit, kWarning, judge_translation},
    Rule{"bus.acs", "P05", Scope::hosts, Kind::defect, kWarning, judge_redirection},
    Rule{"bus.errors", "P06", Scope::stream, Kind::defect, kWarning, judge_bus_errors},
    Rule{"bus.aspm", "P07", Scope::hosts, Kind::note, kInfo, judge_power_saving},
    Rule{"bus.shared-uplink", "P08", Scope::hosts, Kind::defect, kWarning, judge_shared_uplink},
    Rule{"bus.back-pressure", "P09", Scope::stream, Kind::defect, kWarning, judge_back_pressure}};

}  // namespace

RuleTable bus_rules() { return kRules; }

}  // namespace netbench::report
