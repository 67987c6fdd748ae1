#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/mtu_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr double kJumbo_bytes = 9000;
constexpr double kStandard_bytes = 1500;
/// A core that busy gains from fewer, larger packets.
constexpr double kCpuBound = 0.8;
/// Faster by that much with a larger MTU, and the MTU was the limit.
constexpr double kGain = 1.10;
/// Consecutive time-outs of one segment after which nothing gets through (the interval doubles).
constexpr double kBackoffs = 2;
/// What a stream that stands still still counts, in bit/s.
constexpr double kNoProgress_bps = 1e5;

std::string set_mtu(const Look& look, End end, double bytes) {
  return fmt::format("on {}: ip link set dev {} mtu {:.0f}", look.host_name(end),
                     look.interface(end), bytes);
}

/// The bytes that pass both ways, or 0.
double passing_bytes(const PathMtu& path) {
  return static_cast<double>(std::min(path.forward_bytes, path.reverse_bytes));
}

/// Goodput with a larger MTU over this row's, from a row that differs in nothing else.
std::optional<double> gain_of_larger_mtu(Look& look, double mtu) {
  const Measurement& own = *look.row();
  const auto& rows = look.document().measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& other = rows[i];
    if (static_cast<double>(other.mtu_bytes) > mtu && other.transport == own.transport &&
        other.workload == own.workload && other.direction == own.direction &&
        other.size_bytes == own.size_bytes && other.summary.goodput_bps &&
        other.tunables.requested == own.tunables.requested &&
        own.summary.goodput_bps.value_or(0) > 0) {
      look.cite(fmt::format("/measurements/{}/summary/goodput_bps", i));
      return *other.summary.goodput_bps / *own.summary.goodput_bps;
    }
  }
  return std::nullopt;
}

bool may_be_jumbo(Look& look) {
  return std::ranges::all_of(kEnds, [&](End end) {
    return look.fact(end, "if.*.max_mtu_bytes").value_or(0) >= kJumbo_bytes;
  });
}

std::vector<std::string> raise_mtu(const Look& look) {
  return {set_mtu(look, End::sender, kJumbo_bytes), set_mtu(look, End::receiver, kJumbo_bytes),
          "the same on every switch port in between, then: netbench pair --mtu 1500,9000"};
}

Verdict judge_small_mtu(Look& look) {
  const auto near = look.fact(End::sender, "if.*.mtu_bytes");
  const auto far = look.fact(End::receiver, "if.*.mtu_bytes");
  if (!near || !far || look.row() == nullptr) {
    return unknown("the MTU of an end is not known");
  }
  const double own = static_cast<double>(look.row()->mtu_bytes);
  const double mtu = own > 0 ? own : std::min(*near, *far);
  if (mtu > kStandard_bytes) {
    return silent(fmt::format("MTU {:.0f}", mtu));
  }
  if (const auto gain = gain_of_larger_mtu(look, mtu)) {
    const std::string why =
        fmt::format("goodput x {:.2f} with a larger MTU than {:.0f}", *gain, mtu);
    return *gain < kGain ? silent(why)
                         : fires(Confidence::confirmed, std::min(1.0, 1 / *gain + 0.1), why,
                                 "packets of " + fmt::format("{:.0f} B are the limit: ", mtu) + why,
                                 raise_mtu(look));
  }
  const auto busy = nearest_bound(look, {"sender-thread", "receiver-thread", "softirq"});
  if (!busy || !may_be_jumbo(look)) {
    return unknown(fmt::format("MTU {:.0f}; the CPU's load or the largest MTU is not known", mtu));
  }
  const std::string why = fmt::format("MTU {:.0f}, busiest core {:.0f} %", mtu, 100 * *busy);
  if (*busy < kCpuBound) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.5, why,
      fmt::format("a core is full with packets of {:.0f} B; both cards could send {:.0f} B", mtu,
                  kJumbo_bytes),
      raise_mtu(look));
}

std::string path_text(const PathMtu& path) {
  return fmt::format("up to {} B pass forward and {} B back; larger ones vanish without a word{}",
                     path.forward_bytes, path.reverse_bytes,
                     path.method.empty() ? "" : " (" + path.method + ")");
}

std::vector<std::string> black_hole_remedy(Look& look, bool routed) {
  const double passing = passing_bytes(look.document().run.path_mtu);
  std::vector<std::string> remedy;
  if (routed) {
    remedy.emplace_back(
        "let ICMP \"fragmentation needed\" (type 3 code 4; ICMPv6 type 2) pass on "
        "every router and firewall of the path");
  } else {
    remedy.emplace_back("raise the MTU of the switch port, VLAN or bridge in between");
  }
  if (passing > 0) {
    remedy.push_back(fmt::format("or lower it here: {}", set_mtu(look, End::sender, passing)));
    remedy.push_back(set_mtu(look, End::receiver, passing));
  }
  remedy.emplace_back("sysctl -w net.ipv4.tcp_mtu_probing=1   (both ends; TCP alone)");
  return remedy;
}

/// A path on which large packets vanish; whether a router is between decides who should have told.
Verdict black_hole(Look& look, bool routed) {
  const PathMtu& path = look.document().run.path_mtu;
  if (path.method.empty() || path.method == "not probed") {
    return unknown("the path was not probed");
  }
  look.cite("/run/path_mtu");
  if (!path.black_hole) {
    return silent(fmt::format("no black hole: {} B forward, {} B back ({})", path.forward_bytes,
                              path.reverse_bytes, path.method));
  }
  const auto same_subnet = look.fact(End::sender, "path.same_subnet");
  if (same_subnet && (*same_subnet == 0) != routed) {
    return silent(path_text(path) + (routed ? "; no router is between" : "; a router is between"));
  }
  const Confidence confidence = same_subnet ? Confidence::confirmed : Confidence::likely;
  if (!same_subnet && routed) {
    return unknown(path_text(path) + "; whether a router is between is not known");
  }
  return fires(confidence, 1, path_text(path),
               fmt::format("large packets vanish {}: {}",
                           routed ? "behind a router, whose ICMP errors do not arrive"
                                  : "in a switch or bridge whose MTU is smaller than the hosts'",
                           path_text(path)),
               black_hole_remedy(look, routed));
}

Verdict judge_routed_black_hole(Look& look) { return black_hole(look, true); }
Verdict judge_switched_black_hole(Look& look) { return black_hole(look, false); }

Verdict judge_no_progress(Look& look) {
  const auto goodput = look.goodput_bps();
  const auto backoff = look.largest(End::sender, "tcp_info_max.backoff");
  const auto pmtu = look.typical(End::sender, "tcp_info.pmtu");
  if (!goodput || !backoff) {
    return unknown("goodput or time-outs are not known");
  }
  const std::string why =
      fmt::format("{:.0f} bit/s, {:.0f} time-outs in a row{}", *goodput, *backoff,
                  pmtu ? fmt::format(", path MTU {:.0f}", *pmtu) : "");
  if (*goodput > kNoProgress_bps || *backoff < kBackoffs) {
    return silent(why);
  }
  if (pmtu && *pmtu <= kStandard_bytes) {
    return silent(why + ": not for the size of the packets");
  }
  return fires(Confidence::likely, 1, why,
               "a stream stands still although the connection was made: packets as large as its "
               "first full segment vanish (" +
                   why + ")",
               black_hole_remedy(look, look.fact(End::sender, "path.same_subnet") == 0.0));
}

Verdict judge_ends_differ(Look& look) {
  const auto near = look.fact(End::sender, "if.*.mtu_bytes");
  const auto far = look.fact(End::receiver, "if.*.mtu_bytes");
  if (!near || !far) {
    return unknown("the MTU of an end is not known");
  }
  const std::string why =
      fmt::format("MTU {:.0f} on {}, {:.0f} on {}", *near, device_of(look, End::sender), *far,
                  device_of(look, End::receiver));
  if (*near == *far) {
    return silent(why);
  }
  if (look.fact(End::sender, "path.same_subnet") != 1.0) {
    return silent(why + "; not one subnet, so routers may settle it");
  }
  const double larger = std::max(*near, *far);
  const End small = *near < *far ? End::sender : End::receiver;
  return fires(
      Confidence::confirmed, 0.5, why,
      why +
          " in one subnet: TCP settles on the smaller, but larger packets of UDP, RoCE "
          "and ICMP are lost",
      {set_mtu(look, small, larger),
       fmt::format("or {}", set_mtu(look, small == End::sender ? End::receiver : End::sender,
                                    std::min(*near, *far)))});
}

Verdict fragments_at(Look& look, End end) {
  const auto made = look.total(end, "snmp.Ip.FragCreates");
  const auto failed = look.total(end, "snmp.Ip.FragFails");
  const auto lost = look.total(end, "snmp.Ip.ReasmFails");
  if (!made || !failed || !lost) {
    return unknown(fmt::format("{}: fragments not counted", look.host_name(end)));
  }
  const std::string why =
      fmt::format("{}: {:.0f} fragments made, {:.0f} refused, {:.0f} packets not put together",
                  look.host_name(end), *made, *failed, *lost);
  if (*made + *failed + *lost <= 0) {
    return silent(why);
  }
  return fires(
      Confidence::likely, 0.6, why,
      "the stream's packets are cut on the way, which an overlay, VLAN or tunnel does whose "
      "MTU leaves no room for its header: " +
          why,
      {fmt::format("ip -d link show {}", look.interface(end)),
       "lower the MTU of the overlay by its header (VXLAN over IPv4: 50 B), or raise the "
       "underlay's"});
}

Verdict judge_fragments(Look& look) { return either_end(look, fragments_at); }

constexpr auto kProblem = Severity::problem;
constexpr auto kWarning = Severity::warning;
constexpr auto kInfo = Severity::info;

constexpr std::array kRules = {
    Rule{"mtu.small", "M01", Scope::stream, Kind::limit, kInfo, judge_small_mtu},
    Rule{"mtu.black-hole-routed", "M02", Scope::hosts, Kind::defect, kProblem,
         judge_routed_black_hole},
    Rule{"mtu.no-progress", "M02", Scope::stream, Kind::defect, kProblem, judge_no_progress},
    Rule{"mtu.black-hole-switched", "M03", Scope::hosts, Kind::defect, kProblem,
         judge_switched_black_hole},
    Rule{"mtu.switch-port", "M03", Scope::hosts, Kind::defect, kWarning, judge_switch_port},
    Rule{"mtu.ends-differ", "M04", Scope::hosts, Kind::defect, kWarning, judge_ends_differ},
    Rule{"mtu.fragments", "M05", Scope::stream, Kind::defect, kWarning, judge_fragments},
    Rule{"mtu.overlay", "M05", Scope::hosts, Kind::defect, kWarning, judge_overlay},
    Rule{"mtu.roce", "M06", Scope::hosts, Kind::defect, kWarning, judge_roce}};

}  // namespace

RuleTable mtu_rules() { return kRules; }

}  // namespace netbench::report
