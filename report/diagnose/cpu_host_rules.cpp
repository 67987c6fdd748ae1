#include <fmt/format.h>

#include <algorithm>

#include "report/diagnose/cpu_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr double kManyRules = 100;
constexpr double kCpuBound = 0.8;
constexpr double kStolen = 0.05;

Verdict firewall(Look& look, End end) {
  const auto tracked = look.largest(end, "conntrack.count");
  double rules = 0;
  bool known = tracked.has_value();
  for (const char* key : {"firewall.input_rules", "firewall.output_rules"}) {
    const auto count = look.fact(end, key);
    known = known || count;
    rules += count.value_or(0);
  }
  if (!known) {
    return unknown(
        fmt::format("firewall and connection tracking of {} were not read", look.host_name(end)));
  }
  const auto softirq = look.nearness("softirq");
  const auto thread = busiest_share(look, end);
  const bool bound = std::max(softirq.value_or(0), thread.value_or(0)) > kCpuBound;
  const std::string why =
      fmt::format("{}: {:.0f} connections tracked, {:.0f} rules in the way{}", look.host_name(end),
                  tracked.value_or(0), rules, bound ? ", and the CPU is busy" : "");
  if (!bound || (tracked.value_or(0) < 1 && rules <= kManyRules)) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.1, why,
      fmt::format("every packet on {} passes rules or connection tracking, which costs CPU",
                  look.host_name(end)),
      {on(look, end,
          "nft add table inet raw; nft add chain inet raw pre '{ type filter hook "
          "prerouting priority raw; }'; nft add rule inet raw pre tcp dport 18550 "
          "notrack  # then measure again")});
}

Verdict packet_taps(Look& look, End end) {
  const auto taps = look.largest(end, "packet_sockets.foreign");
  if (!taps) {
    return unknown(fmt::format("packet sockets of {} were not read", look.host_name(end)));
  }
  const std::string why =
      fmt::format("{:.0f} packet sockets of other programs on {}", *taps, look.host_name(end));
  return *taps < 1
             ? silent(why)
             : fires(Confidence::possible, 0.1, why,
                     fmt::format("other programs see every packet of {} (capture, LLDP, DHCP)",
                                 look.host_name(end)),
                     {on(look, end, "ss -0 -p  # and stop the capture")});
}

Verdict steal(Look& look, End end) {
  const auto stolen = look.total(end, "cpu.steal_s");
  const auto elapsed = look.elapsed_s(end);
  if (!stolen || !elapsed) {
    return unknown(fmt::format("stolen time of {} was not read", look.host_name(end)));
  }
  const double cpus = std::max(1.0, look.fact(end, "cpu.logical_count").value_or(1));
  const double share = *stolen / *elapsed / cpus;
  const std::string why = fmt::format("the hypervisor took {} of the CPU time of {}",
                                      percent(share), look.host_name(end));
  return share <= kStolen
             ? silent(why)
             : fires(Confidence::likely, share, why, why + ": other guests run on its cores",
                     {"pin the guest's CPUs, or test on a host without other guests"});
}

Verdict virtual_offload(Look& look, End end) {
  const auto driver = look.fact_text(end, "if.*.driver");
  const auto segments = look.fact(end, "if.*.offload.tso");
  const auto sums = look.fact(end, "if.*.offload.tx_checksum");
  if (!driver || (!segments && !sums)) {
    return unknown(fmt::format("driver or offloads of {} were not read", device_of(look, end)));
  }
  const std::string why =
      fmt::format("{}: {}, TCP segmentation {}, checksums {}", device_of(look, end), *driver,
                  segments.value_or(1) != 0 ? "on" : "off", sums.value_or(1) != 0 ? "on" : "off");
  if (*driver != "virtio_net" || (segments.value_or(1) != 0 && sums.value_or(1) != 0)) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.5, why,
               fmt::format("the virtual card {} does without offloads, so that every packet costs "
                           "the guest a full pass",
                           device_of(look, end)),
               {on(look, end, fmt::format("ethtool -K {} tx on tso on", look.interface(end))),
                "where they are fixed off: turn csum and tso on in the device's definition "
                "(host_tso4, guest_tso4, csum of virtio), and on the host's tap"});
}

Verdict container_path(Look& look, End end) {
  const auto container = look.fact_text(end, "host.container");
  const auto kind = look.fact_text(end, "if.*.kind");
  if (!container || !kind) {
    return unknown(fmt::format("whether {} is a container was not read", look.host_name(end)));
  }
  const std::string why = fmt::format("{}: container {}, {} {}", look.host_name(end), *container,
                                      look.interface(end), *kind);
  const bool contained = *container != "none" && !container->empty();
  if (!contained || (*kind != "veth" && *kind != "ipvlan")) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.1, why,
               fmt::format("the traffic of {} leaves through a container's virtual link (bridge, "
                           "address translation, overlay)",
                           look.host_name(end)),
               {"compare with the host's network: --network host, hostNetwork: true"});
}

}  // namespace

Verdict judge_firewall(Look& look) { return either_end(look, firewall); }
Verdict judge_packet_taps(Look& look) { return either_end(look, packet_taps); }
Verdict judge_steal(Look& look) { return either_end(look, steal); }
Verdict judge_virtual_offload(Look& look) { return either_end(look, virtual_offload); }
Verdict judge_container_path(Look& look) { return either_end(look, container_path); }

}  // namespace netbench::report
