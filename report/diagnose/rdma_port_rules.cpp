#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "bench/core/units.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Queues and buffers of a row at its largest: less than this is soon too little.
constexpr double kPinnedBytes = 64.0 * (1 << 20);
/// Both bits of a partition key that are not its number (InfiniBand Architecture, 10.9.1.1).
constexpr auto kFullMember = std::int64_t{0x8000};
constexpr auto kPartition = std::int64_t{0x7fff};

bool is_active(Look& look, End end, const std::string& rail) {
  return rail_text(look, end, rail, "state") == "ACTIVE";
}

bool another_serves(Look& look, End end, const std::string& rail,
                    bool (*serves)(Look&, End, const std::string&)) {
  const auto rails = rails_of(look, end);
  return std::ranges::any_of(rails, [&](const std::string& other) {
    return other != rail && !is_software_rail(look, end, other) && serves(look, end, other);
  });
}

/// At level info where another rail of the host does what this one does not.
Verdict weighed(Look& look, End end, const std::string& rail, Verdict verdict,
                bool (*serves)(Look&, End, const std::string&)) {
  return another_serves(look, end, rail, serves)
             ? milder(std::move(verdict))
             : unless_wanted(look.document(), std::move(verdict));
}

bool is_allowed(Look& look, End end, const std::string& rail) {
  return rail_text(look, end, rail, "access") == "allowed";
}

std::vector<std::string> access_remedy(Look& look, End end, const std::string& access) {
  const auto container = look.fact_text(end, "host.container");
  if (access == "not permitted") {
    return {
        fmt::format("on {}: ls -l /dev/infiniband; chmod a+rw /dev/infiniband/uverbs* (or a "
                    "udev rule, or the group that owns them)",
                    look.host_name(end))};
  }
  if (access == "not offered") {
    return {"modprobe ib_uverbs"};
  }
  if (container && *container != "none") {
    return {
        "start the container with --device=/dev/infiniband --cap-add=IPC_LOCK --ulimit "
        "memlock=-1; in Kubernetes with the RDMA device plug-in"};
  }
  return {"modprobe ib_uverbs", "udevadm trigger --subsystem-match=infiniband_verbs"};
}

Verdict access_of(Look& look, End end, const std::string& rail) {
  const auto access = rail_text(look, end, rail, "access");
  const std::string name = rail_name(look, end, rail);
  if (!access) {
    return unknown(name + ": whether programs may use it was not read");
  }
  const std::string why = fmt::format("{}: {}", name, *access);
  if (*access == "allowed") {
    return silent(why);
  }
  return weighed(
      look, end, rail,
      fires(Confidence::confirmed, 1, why,
            fmt::format("{} is there, and this process cannot use it: {}", name, *access),
            access_remedy(look, end, *access)),
      is_allowed);
}

/// What a port that is not active waits for.
struct Waiting {
  std::string_view physical;
  std::string_view text;
  std::string_view remedy;
};
constexpr std::array<Waiting, 4> kWaiting{
    {{"Polling", "it sees no partner: no cable, a dead one, or a port that is off at the other end",
      "reseat the cable and the module; look at the port of the switch"},
     {"Disabled", "it was switched off", "rdma link; on Ethernet: ip link set dev IF up"},
     {"Sleep", "it sleeps", "rdma link"},
     {"LinkErrorRecovery", "it retrains: a bad cable or module",
      "another cable, module or switch port"}}};

Verdict port_of(Look& look, End end, const std::string& rail) {
  const auto state = rail_text(look, end, rail, "state");
  const std::string name = rail_name(look, end, rail);
  if (!state) {
    return unknown(name + ": its state was not read");
  }
  const std::string physical = rail_text(look, end, rail, "phys_state").value_or("unknown");
  const std::string why = fmt::format("{}: {}, {}", name, *state, physical);
  if (*state != "DOWN") {
    return silent(why);
  }
  const auto known = std::ranges::find(kWaiting, physical, &Waiting::physical);
  const bool is_known = known != kWaiting.end();
  return weighed(look, end, rail,
                 fires(Confidence::confirmed, 1, why,
                       fmt::format("the port of {} is down ({}){}", name, physical,
                                   is_known ? fmt::format(": {}", known->text) : ""),
                       {is_known ? std::string(known->remedy) : "rdma link",
                        "or name an active port: --verbs.device"}),
                 is_active);
}

Verdict subnet_manager_of(Look& look, End end, const std::string& rail) {
  const auto state = rail_text(look, end, rail, "state");
  const auto layer = rail_text(look, end, rail, "link_layer");
  const std::string name = rail_name(look, end, rail);
  if (!state || !layer) {
    return unknown(name + ": state or link layer not read");
  }
  const auto manager = rail_fact(look, end, rail, "sm_lid");
  const std::string why = fmt::format("{}: {} on {}, subnet manager's LID {}", name, *state, *layer,
                                      manager ? fmt::format("{:.0f}", *manager) : "unknown");
  if (*layer != "InfiniBand" || (*state != "INIT" && *state != "ARMED")) {
    return silent(why);
  }
  return weighed(
      look, end, rail,
      fires(manager.value_or(0) == 0 ? Confidence::confirmed : Confidence::likely, 1, why,
            fmt::format("{} has a link and no subnet manager has brought it up ({})", name, *state),
            {"start a subnet manager in this fabric (on one host or in the switch): "
             "systemctl start opensm",
             "of Quantum-2 switches and newer, the vendor's manager: an older opensm "
             "lets small packets pass and large ones not"}),
      is_active);
}

bool is_infiniband(Look& look, End end, const std::string& rail) {
  return rail_text(look, end, rail, "link_layer") == "InfiniBand";
}

std::string partition_text(double key) {
  return fmt::format("{:#06x}", static_cast<std::int64_t>(key));
}

/// "1X" of "1X NDR": lanes, and the generation behind them.
double lanes_of(const std::string& text) { return text.empty() ? 0 : text.front() - '0'; }

/// The generations of InfiniBand in the order of their rates (volume 2, chapter 4).
double generation_of(const std::string& text) {
  constexpr std::array<std::string_view, 9> kGenerations{"SDR", "DDR", "QDR", "FDR10", "FDR",
                                                         "EDR", "HDR", "NDR", "XDR"};
  const auto space = text.find(' ');
  const auto known = std::ranges::find(
      kGenerations, space == std::string::npos ? "" : std::string_view(text).substr(space + 1));
  return static_cast<double>(known - kGenerations.begin());
}

/// Rails of the same card at one host: by board.
std::optional<std::string> faster_sibling(Look& look, End end, const std::string& rail) {
  const auto own = rail_text(look, end, rail, "lanes");
  const auto board = rail_text(look, end, rail, "board");
  for (const std::string& other : rails_of(look, end)) {
    const auto lanes = rail_text(look, end, other, "lanes");
    if (other != rail && own && lanes && board && is_active(look, end, other) &&
        board == rail_text(look, end, other, "board") &&
        lanes_of(*lanes) * (1 + generation_of(*lanes)) >
            lanes_of(*own) * (1 + generation_of(*own))) {
      return fmt::format("{} runs at {}", other, *lanes);
    }
  }
  return std::nullopt;
}

Verdict lanes_at(Look& look, End end, const std::string& rail) {
  const auto lanes = rail_text(look, end, rail, "lanes");
  const std::string name = rail_name(look, end, rail);
  if (is_software_rail(look, end, rail)) {
    return silent(name + " is software");
  }
  if (!lanes || !is_active(look, end, rail)) {
    return lanes ? silent(name + " is not active") : unknown(name + ": its lanes were not read");
  }
  const auto sibling = faster_sibling(look, end, rail);
  const bool narrow = is_infiniband(look, end, rail) && lanes_of(*lanes) < 4;
  const std::string why =
      fmt::format("{}: {}{}", name, *lanes, sibling ? fmt::format("; {}", *sibling) : "");
  if (!narrow && !sibling) {
    return silent(why);
  }
  return fires(sibling ? Confidence::likely : Confidence::possible, 0.9, why,
               fmt::format("the link of {} came up degraded: {}", name, why),
               {"reseat the cable and the module, then reset the port: ibportstate, or ip link set "
                "down and up",
                "another cable or module; the port of the switch"});
}

std::string gigabits(double bps) { return format_bits_per_second(bps); }

std::optional<double> fastest_rate(Look& look, End end) {
  std::optional<double> fastest;
  for (const std::string& rail : rails_of(look, end)) {
    const auto rate = rail_fact(look, end, rail, "rate_bps");
    if (rate && is_active(look, end, rail) && !is_software_rail(look, end, rail)) {
      fastest = std::max(fastest.value_or(0), *rate);
    }
  }
  return fastest;
}

Verdict memory_at(Look& look, End end) {
  if (rails_of(look, end).empty()) {
    return unknown(fmt::format("{}: no RDMA device was read", look.host_name(end)));
  }
  const auto limit = look.fact(end, "rdma.memlock_bytes");
  const auto capable = look.fact(end, "rdma.cap_ipc_lock");
  if (!limit) {
    return unknown(fmt::format("{}: the limit of locked memory was not read", look.host_name(end)));
  }
  const std::string why =
      fmt::format("{} may lock {}{}", look.host_name(end),
                  *limit >= 9e18 ? "without limit" : fmt::format("{:.0f} KiB", *limit / 1024),
                  capable.value_or(0) != 0 ? ", and has CAP_IPC_LOCK" : "");
  if (capable.value_or(0) != 0 || *limit >= kPinnedBytes) {
    return silent(why);
  }
  return milder(fires(capable ? Confidence::likely : Confidence::possible, 0.5, why,
                      fmt::format("{}: RDMA pins its buffers, and larger ones will fail with "
                                  "\"Cannot allocate memory\"",
                                  why),
                      {"ulimit -l unlimited; for services LimitMEMLOCK=infinity; for containers "
                       "--ulimit memlock=-1; for users /etc/security/limits.d"}));
}

/// Rails that a verbs row used at an end.
std::set<std::string> rails_in_use(Look& look, End end) {
  std::set<std::string> rails;
  for (const Measurement& row : look.document().measurements) {
    if (row.transport == "verbs") {
      Look at(look.document(), &row, {});
      const std::string rail = rail_of(at, row.direction == Direction::reverse
                                               ? (end == End::sender ? End::receiver : End::sender)
                                               : end);
      if (!rail.empty()) {
        rails.insert(rail);
      }
    }
  }
  return rails;
}

Verdict software_at(Look& look, End end) {
  for (const std::string& rail : rails_in_use(look, end)) {
    if (is_software_rail(look, end, rail)) {
      const std::string driver = rail_text(look, end, rail, "driver").value_or("software");
      const std::string why = fmt::format("{} ({})", rail_name(look, end, rail), driver);
      return fires(Confidence::confirmed, 0.1, why,
                   "software RDMA, not comparable with hardware: " + why, {});
    }
  }
  return rails_of(look, end).empty()
             ? unknown(fmt::format("{}: no RDMA device was read", look.host_name(end)))
             : silent(fmt::format("{}: no software device was used", look.host_name(end)));
}

std::optional<std::string> hardware_rail(Look& look, End end) {
  for (const std::string& rail : rails_of(look, end)) {
    if (!is_software_rail(look, end, rail) && is_active(look, end, rail)) {
      return rail;
    }
  }
  return std::nullopt;
}

}  // namespace

Verdict judge_rdma_access(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, access_of); });
}

Verdict judge_rdma_port(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, port_of); });
}

Verdict judge_rdma_subnet_manager(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, subnet_manager_of); });
}

Verdict judge_rdma_partition(Look& look) {
  const std::string near = rail_of(look, End::sender);
  const std::string far = rail_of(look, End::receiver);
  const auto one = rail_fact(look, End::sender, near, "pkey");
  const auto other = rail_fact(look, End::receiver, far, "pkey");
  if (!one || !other || !is_infiniband(look, End::sender, near)) {
    return one && other ? silent("no InfiniBand link")
                        : unknown("the partition keys are not known");
  }
  const auto a = static_cast<std::int64_t>(*one);
  const auto b = static_cast<std::int64_t>(*other);
  const bool same = (a & kPartition) == (b & kPartition);
  const bool a_full_member = ((a | b) & kFullMember) != 0;
  const std::string why =
      fmt::format("partition keys {} and {}", partition_text(*one), partition_text(*other));
  if (same && a_full_member) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.9, why,
               same ? "both ends are limited members of their partition and may not talk: " + why
                    : "the ends are in different partitions: " + why,
               {"give one of them full membership in the subnet manager's partitions.conf"});
}

Verdict judge_rdma_lanes(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, lanes_at); });
}

Verdict judge_rdma_rates_differ(Look& look) {
  const auto one = fastest_rate(look, End::sender);
  const auto other = fastest_rate(look, End::receiver);
  if (!one || !other) {
    return unknown("the rate of an end's rails is not known");
  }
  const std::string why =
      fmt::format("{} on {}, {} on {}", gigabits(*one), look.host_name(End::sender),
                  gigabits(*other), look.host_name(End::receiver));
  if (*one == *other) {
    return silent(why);
  }
  return unless_wanted(
      look.document(),
      fires(Confidence::likely, 0.6, why,
            "the RDMA ports of both ends run at different rates, so the faster one overruns the "
            "slower where no flow control holds it back: " +
                why,
            {"the same rate at both ends, or flow control that works (priority flow control, ECN)",
             "see why the slower one is slow: rdma link; ethtool; its cable and switch port"}));
}

Verdict judge_rdma_locked_memory(Look& look) { return either_end(look, memory_at); }

Verdict judge_rdma_software(Look& look) { return either_end(look, software_at); }

Verdict judge_rdma_software_by_mistake(Look& look) {
  const Verdict used = either_end(look, software_at);
  if (used.outcome != Outcome::fires) {
    return used;
  }
  const auto near = hardware_rail(look, End::sender);
  const auto far = hardware_rail(look, End::receiver);
  if (!near || !far) {
    return silent(used.why + "; no hardware at both ends that could be used");
  }
  return fires(
      Confidence::confirmed, 0.9, used.why,
      fmt::format("software RDMA was measured although both ends have a card: {}", used.why),
      {fmt::format("netbench pair --verbs.device {}{} …", *near,
                   near == far ? "" : fmt::format(" (here) and {} there", *far))});
}

Verdict judge_rdma_firmware(Look& look) {
  std::vector<Verdict> verdicts;
  for (const std::string& rail : rails_of(look, End::sender)) {
    const auto board = rail_text(look, End::sender, rail, "board");
    const auto version = rail_text(look, End::sender, rail, "firmware");
    for (const std::string& other : rails_of(look, End::receiver)) {
      const auto far = rail_text(look, End::receiver, other, "firmware");
      if (!board || !version || !far || board != rail_text(look, End::receiver, other, "board")) {
        continue;
      }
      const std::string why =
          fmt::format("{} has {}, {} has {}", rail_name(look, End::sender, rail), *version,
                      rail_name(look, End::receiver, other), *far);
      verdicts.push_back(*version == *far
                             ? silent(why)
                             : fires(Confidence::confirmed, 0.2, why,
                                     "RDMA cards of one kind have different firmware: " + why,
                                     {"the same firmware at both ends"}));
    }
  }
  return nearest_of(verdicts, "no two cards of one kind were read");
}

}  // namespace netbench::report
