#include <fmt/format.h>

#include <algorithm>

#include "report/diagnose/path_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Fewer lost datagrams, or a smaller share of them, are not worth a word.
constexpr double kLossesNeeded = 20;
constexpr double kDatagramLoss = 1e-4;
/// Measured: 2 % of packets held back make 4 of 10 segments look reordered; threads that change
/// their CPU on veth make 2e-5 … 1e-3.
constexpr double kReordered = 1e-3;
constexpr double kReorderedMuch = 1e-2;
constexpr double kNeedless = 0.8;
/// Measured: 10 % of acknowledgements lost: 88 % of the retransmits needless, 7 timeouts.
constexpr double kAcksLost = 0.01;
constexpr double kResent = 0.003;
constexpr double kTimeouts = 3;

}  // namespace

std::optional<double> reordered_share(Look& look) {
  return look.ratio(End::sender, "tcp_info.reord_seen", "tcp_info.data_segs_out");
}

std::optional<double> ack_loss_share(Look& look) {
  const auto left = look.total(End::receiver, "tcp_info.segs_out");
  const auto came = look.total(End::sender, "tcp_info.segs_in");
  if (!left || !came || *left <= 0 || *came <= 0) {
    return std::nullopt;
  }
  return std::max(0.0, 1 - *came / *left);
}

Verdict judge_reordering(Look& look) {
  const auto share = reordered_share(look);
  const auto found = losses(look);
  if (!share || !found) {
    return unknown("reordering or retransmits were not counted");
  }
  const std::string why =
      fmt::format("{} of the segments seen out of order; {}", percent(*share), found->text());
  const bool needless = found->retransmitted <= 0 || found->spurious_share() > kNeedless ||
                        found->share() < *share / 10;
  if (*share < kReordered || !needless) {
    return silent(why);
  }
  Verdict verdict =
      fires(Confidence::likely, 0.9, why,
            "packets overtake each other on the path, and are retransmitted needlessly",
            {"hash flows onto links by address and port instead of spreading packets "
             "(round robin, balance-rr)",
             on(look, End::receiver,
                fmt::format("ethtool -x {}  # one queue a flow", look.interface(End::receiver)))});
  if (*share < kReorderedMuch) {
    verdict.severity = Severity::info;
  }
  return verdict;
}

Verdict judge_ack_loss(Look& look) {
  const auto found = losses(look);
  const auto lost = ack_loss_share(look);
  if (!found) {
    return unknown("retransmits or segments were not counted");
  }
  const double timeouts = look.total(End::sender, "netstat.TCPTimeouts").value_or(0);
  const double resent = found->retransmitted / found->sent;
  const std::string why =
      fmt::format("{}, {:.0f} timeouts{}", found->text(), timeouts,
                  lost ? fmt::format(", {} of the acknowledgements lost", percent(*lost)) : "");
  const bool counted = lost && *lost > kAcksLost;
  const bool inferred = !lost && found->spurious_share() > kNeedless && timeouts >= kTimeouts &&
                        resent > kResent && reordered_share(look).value_or(0) < kReordered;
  if (!counted && !inferred) {
    return silent(why);
  }
  return fires(counted ? Confidence::likely : Confidence::possible, 0.9, why,
               fmt::format("acknowledgements are lost on the way back from {}, and data that came "
                           "is sent again",
                           look.host_name(End::receiver)),
               {fmt::format("read the error counters of the ports from {} to {}; measure that "
                            "direction: --direction reverse",
                            look.host_name(End::receiver), look.host_name(End::sender))});
}

Verdict judge_corruption(Look& look) {
  const auto sums = look.total(End::receiver, "snmp.Tcp.InCsumErrors");
  if (!sums) {
    return unknown("checksum errors were not counted");
  }
  const auto found = losses(look);
  const std::string why =
      fmt::format("{:.0f} checksum errors on {}{}", *sums, look.host_name(End::receiver),
                  found ? "; " + found->text() : "");
  if (*sums < 1 || (found && *sums < 0.3 * found->lost)) {
    return silent(why);
  }
  // A card that checks sums could be what errs: then only a run without it tells.
  const bool card = look.fact(End::receiver, "if.*.pcie.width_lanes").has_value();
  return fires(card ? Confidence::possible : Confidence::likely,
               found && found->lost > 0 ? std::min(1.0, *sums / found->lost) : 0.5, why,
               "something on the path changes packets after their frame was checked: they arrive "
               "with a valid frame and a wrong checksum",
               {"replace or update what rewrites packets in between (switch, firewall, tunnel, "
                "hypervisor)",
                on(look, End::receiver,
                   fmt::format("ethtool -K {} rx off  # if the errors stay, the path corrupts",
                               look.interface(End::receiver)))});
}

Verdict judge_datagram_loss(Look& look) {
  const auto lost = look.total(End::receiver, "udp.lost");
  const auto expected = look.total(End::receiver, "udp.expected");
  if (!lost || !expected || *expected <= 0) {
    return unknown("datagrams were not counted");
  }
  const double at_socket = std::max(look.total(End::receiver, "udp.socket_drops").value_or(0),
                                    look.total(End::receiver, "snmp.Udp.RcvbufErrors").value_or(0));
  const double on_path = std::max(0.0, *lost - at_socket);
  const std::string why = fmt::format(
      "{:.0f} of {:.0f} datagrams lost, {:.0f} of them at the "
      "receiver's socket",
      *lost, *expected, at_socket);
  if (on_path < kLossesNeeded || on_path / *expected < kDatagramLoss) {
    return silent(why);
  }
  return fires(Confidence::possible, std::min(1.0, on_path / *expected), why,
               fmt::format("{} of the datagrams are lost before the receiver's socket: the offered "
                           "rate exceeds the path, or the path loses",
                           percent(on_path / *expected)),
               {"netbench pair --peer HOST --transport udp --udp.rate A LOWER RATE"});
}

}  // namespace netbench::report
