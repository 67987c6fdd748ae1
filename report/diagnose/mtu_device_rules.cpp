#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/diagnose/mtu_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// An overlay that wastes less of its underlay costs little.
constexpr double kWaste_bytes = 1500;
/// Smallest interface MTU in which RoCE's largest path MTU of 4096 bytes fits with its headers.
constexpr double kRoceRoom_bytes = 4200;
constexpr double kRoceLargest_bytes = 4096;
/// Of an Ethernet frame beside what the MTU counts: header and check sequence (IEEE 802.3, clause
/// 3.1.1), which the maximum frame size of LLDP includes (clause 79.3.4).
constexpr double kFrame_bytes = 18;

std::string set_mtu(const Look& look, End end, const std::string& device, double bytes) {
  return fmt::format("on {}: ip link set dev {} mtu {:.0f}", look.host_name(end), device, bytes);
}

Verdict tunnel_verdict(Look& look, End end, const std::string& device) {
  const auto fact = [&](const std::string& name, const char* what) {
    return look.fact(end, fmt::format("if.{}.{}", name, what));
  };
  const auto overhead = fact(device, "tunnel_overhead_bytes");
  const auto under = look.fact_text(end, fmt::format("if.{}.lower.0", device));
  const auto own = fact(device, "mtu_bytes");
  const auto below = under ? fact(*under, "mtu_bytes") : std::nullopt;
  const std::string where = fmt::format("{}'s {}", look.host_name(end), device);
  if (!overhead || !own || !below) {
    return unknown(where + ": the MTU of the tunnel or of what it runs over is not known");
  }
  const double room = *below - *overhead;
  const std::string why =
      fmt::format("{} has MTU {:.0f}; {} carries {:.0f} B less {:.0f} B of header", where, *own,
                  *under, *below, *overhead);
  if (*own == room) {
    return silent(why);
  }
  Verdict verdict =
      fires(Confidence::likely, *own > room ? 0.9 : 1 - *own / room, why,
            *own > room ? "an overlay's packets do not fit its underlay and are cut or lost: " + why
                        : "an overlay sends smaller packets than its underlay carries: " + why,
            {set_mtu(look, end, device, room), "the same on every host of the overlay"});
  return *own > room || room - *own >= kWaste_bytes ? verdict : milder(std::move(verdict));
}

Verdict overlay_at(Look& look, End end) {
  std::vector<Verdict> verdicts;
  for (const auto& device : fact_names(look, end, "if.", ".tunnel_overhead_bytes")) {
    verdicts.push_back(tunnel_verdict(look, end, device));
  }
  if (verdicts.empty() && look.fact_text(end, "if.*.kind")) {
    return silent(fmt::format("{} is no tunnel", device_of(look, end)));
  }
  return nearest_of(verdicts, fmt::format("{}: its kind was not read", device_of(look, end)));
}

Verdict roce_at(Look& look, End end) {
  const auto devices = fact_names(look, end, "rdma.", ".active_mtu_bytes");
  for (const std::string& device : devices) {
    const auto active = look.fact(end, fmt::format("rdma.{}.active_mtu_bytes", device));
    const auto netdev = look.fact_text(end, fmt::format("rdma.{}.interface", device));
    const auto mtu =
        netdev ? look.fact(end, fmt::format("if.{}.mtu_bytes", *netdev)) : std::nullopt;
    if (active && mtu && *active < kRoceLargest_bytes && *mtu < kRoceRoom_bytes) {
      const std::string why = fmt::format("{}: path MTU {:.0f}, since {} has MTU {:.0f}", device,
                                          *active, *netdev, *mtu);
      return fires(Confidence::confirmed, 0.5, why,
                   fmt::format("RoCE on {} sends smaller packets than it could: {}",
                               look.host_name(end), why),
                   {fmt::format("on {}: ip link set dev {} mtu {:.0f}", look.host_name(end),
                                *netdev, kRoceRoom_bytes),
                    "the same at the other end and on the switch"});
    }
  }
  return devices.empty() ? unknown(fmt::format("{}: no RDMA device was read", look.host_name(end)))
                         : silent(fmt::format("{}: RDMA path MTU fits", look.host_name(end)));
}

/// Whether packets of that size were seen to pass both ways.
bool passes(Look& look, double mtu) {
  const PathMtu& path = look.document().run.path_mtu;
  const bool seen = static_cast<double>(std::min(path.forward_bytes, path.reverse_bytes)) >= mtu;
  if (seen) {
    look.cite("/run/path_mtu");
  }
  return seen;
}

// Switches tell a maximum frame size by LLDP; some tell their default whatever is set.
Verdict port_of_device(Look& look, End end, const std::string& device) {
  const auto largest = look.fact(end, fmt::format("if.{}.lldp.max_frame_bytes", device));
  const auto mtu = look.fact(end, fmt::format("if.{}.mtu_bytes", device));
  const auto system = look.fact_text(end, fmt::format("if.{}.lldp.system", device));
  const auto port = look.fact_text(end, fmt::format("if.{}.lldp.port", device));
  const std::string place =
      fmt::format("port {} of {}", port.value_or("(unnamed)"), system.value_or("the switch"));
  if (!largest || !mtu) {
    return unknown(fmt::format("{}'s {}: MTU or the switch's largest frame not known",
                               look.host_name(end), device));
  }
  const std::string why =
      fmt::format("{} says that it takes frames of {:.0f} B; {}'s {} sends up to {:.0f} B", place,
                  *largest, look.host_name(end), device, *mtu + kFrame_bytes);
  if (*largest >= *mtu + kFrame_bytes) {
    return silent(why);
  }
  if (passes(look, *mtu)) {
    return silent(why + "; but such packets pass, so it tells its default");
  }
  return fires(Confidence::possible, 0.8, why,
               "a switch port may drop full frames without a word: " + why,
               {fmt::format("raise the MTU of {} above {:.0f} B", place, *mtu + kFrame_bytes),
                "or " + set_mtu(look, end, device, *largest - kFrame_bytes),
                "netbench pair --peer HOST   (it probes whether full packets pass)"});
}

Verdict switch_port_at(Look& look, End end) {
  std::vector<Verdict> verdicts;
  for (const auto& device : fact_names(look, end, "if.", ".lldp.max_frame_bytes")) {
    verdicts.push_back(port_of_device(look, end, device));
  }
  return nearest_of(
      verdicts, fmt::format("{}: the switch told no largest frame by LLDP", look.host_name(end)));
}

}  // namespace

Verdict judge_overlay(Look& look) { return either_end(look, overlay_at); }
Verdict judge_roce(Look& look) { return either_end(look, roce_at); }
Verdict judge_switch_port(Look& look) { return either_end(look, switch_port_at); }

}  // namespace netbench::report
