#include <fmt/format.h>

#include <array>
#include <string>

#include "report/diagnose/rule.hpp"
#include "report/diagnose/verdicts.hpp"

/// What a host's own settings will cost, told before any traffic (`netbench doctor`). Where rows
/// were measured, the rules of streams judge by what they show, and these are silent.
namespace netbench::report {

namespace {

/// Below so many processors' time, one thread a host cannot even keep one busy.
constexpr double kOneCpu = 1;

/// Common drivers begin with 256 descriptors or more (e1000e, igb: 256; mlx5: 1024): somebody chose
/// fewer.
constexpr double kSmallRing = 256;

bool has_rows(const Look& look) { return !look.document().measurements.empty(); }

Verdict left_to_rows() { return silent("the rows that were measured tell"); }

std::string gigabits(double bps) { return fmt::format("{:.3g} Gb/s", bps / 1e9); }

Verdict shaper(Look& look, End end) {
  const auto kind = look.fact_text(end, "qdisc.*.kind");
  if (!kind) {
    return unknown(fmt::format("the queueing discipline of {} was not read", device_of(look, end)));
  }
  const auto rate = look.fact(end, "qdisc.*.rate_bps");
  const auto speed = look.fact(end, "if.*.speed_bps");
  const std::string why = fmt::format("{}: {}{}", device_of(look, end), *kind,
                                      rate ? " at " + gigabits(*rate) : std::string());
  if (!rate || *rate <= 0 || (speed && *rate >= *speed)) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.5, why,
               fmt::format("{} is shaped to {}: nothing leaves it faster", device_of(look, end),
                           gigabits(*rate)),
               {fmt::format("on {}: tc qdisc del dev {} root  # if it is not wanted",
                            look.host_name(end), look.interface(end))});
}

Verdict quota(Look& look, End end) {
  const auto cpus = look.fact(end, "cgroup.cpu_limit_cpus");
  if (!cpus) {
    return unknown(fmt::format("no CPU quota of {} is known", look.host_name(end)));
  }
  const std::string why =
      fmt::format("{}: this control group may use {:.3g} CPUs", look.host_name(end), *cpus);
  return *cpus >= kOneCpu
             ? silent(why)
             : fires(Confidence::likely, 0.5, why, why + ": less than one thread needs",
                     {fmt::format("on {}: raise cpu.max of the group, or the container's CPU limit",
                                  look.host_name(end))});
}

Verdict governor(Look& look, End end) {
  const auto name = look.fact_text(end, "cpu.governor");
  if (!name) {
    return unknown(fmt::format("the frequency governor of {} was not read", look.host_name(end)));
  }
  const std::string why = fmt::format("{}: governor {}", look.host_name(end), *name);
  return *name != "powersave" && *name != "conservative"
             ? silent(why)
             : fires(Confidence::possible, 0.1, why,
                     fmt::format("the CPUs of {} are told to save power ({}): with intel_pstate "
                                 "that is usual, elsewhere they stay slow",
                                 look.host_name(end), *name),
                     {fmt::format("on {}: cpupower frequency-set -g performance",
                                  look.host_name(end))});
}

Verdict ring(Look& look, End end) {
  const auto now = look.fact(end, "if.*.ring.rx_descriptors");
  const auto most = look.fact(end, "if.*.ring.rx_max_descriptors");
  if (!now || !most) {
    return unknown(fmt::format("the receive ring of {} was not read", device_of(look, end)));
  }
  const std::string why =
      fmt::format("{}: receive ring of {:.0f}, at most {:.0f}", device_of(look, end), *now, *most);
  return *now >= std::min(*most, kSmallRing)
             ? silent(why)
             : fires(Confidence::possible, 0.05, why, why + ": bursts that find it full are lost",
                     {fmt::format("on {}: ethtool -G {} rx {:.0f}  # if rx_missed or "
                                  "rx_no_buffer rise under load",
                                  look.host_name(end), look.interface(end), *most)});
}

Verdict offloads(Look& look, End end) {
  std::string off;
  bool read = false;
  for (const char* feature : {"tso", "gso", "gro"}) {
    const auto value = look.fact(end, fmt::format("if.*.offload.{}", feature));
    read = read || value;
    off += value == 0.0 ? fmt::format(" {}", feature) : "";
  }
  if (!read) {
    return unknown(fmt::format("the offloads of {} were not read", device_of(look, end)));
  }
  if (off.empty()) {
    return silent(fmt::format("{}: segmentation offloads on", device_of(look, end)));
  }
  std::string switched;
  for (std::size_t at = 1; at < off.size(); at += 4) {
    switched += " " + off.substr(at, 3) + " on";
  }
  const std::string why = fmt::format("{}: off:{}", device_of(look, end), off);
  return fires(
      Confidence::possible, 0.05, why,
      why + ", which costs CPU time a packet and matters above 10 Gb/s",
      {fmt::format("on {}: ethtool -K {}{}", look.host_name(end), look.interface(end), switched)});
}

template <Verdict (*judge)(Look&, End)>
Verdict before_traffic(Look& look) {
  return has_rows(look) ? left_to_rows() : either_end(look, judge);
}

}  // namespace

RuleTable standing_rules() {
  static constexpr std::array kRules = {
      Rule{"standing.shaper", "L16", Scope::hosts, Kind::defect, Severity::warning,
           before_traffic<shaper>},
      Rule{"standing.cpu-quota", "K05", Scope::hosts, Kind::defect, Severity::warning,
           before_traffic<quota>},
      Rule{"standing.governor", "K06", Scope::hosts, Kind::note, Severity::info,
           before_traffic<governor>},
      Rule{"standing.ring", "L07", Scope::hosts, Kind::note, Severity::info, before_traffic<ring>},
      Rule{"standing.offloads", "L11", Scope::hosts, Kind::note, Severity::info,
           before_traffic<offloads>}};
  return kRules;
}

}  // namespace netbench::report
