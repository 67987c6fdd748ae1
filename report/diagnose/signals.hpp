#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnose/rule.hpp"

/// What the families that judge rows read of them alike. Everything asked is noted by the Look.
namespace netbench::report {

// Shares of the life time of the threads that carry the payload (send.* of the sender, recv.* of
// the receiver), 0 … 1: running, waiting for a CPU, asleep in our own throttle, blocked in the
// kernel; and the largest share that one of the threads ran.
[[nodiscard]] std::optional<double> running_share(Look& look, End end);
[[nodiscard]] std::optional<double> waiting_share(Look& look, End end);
[[nodiscard]] std::optional<double> throttled_share(Look& look, End end);
[[nodiscard]] std::optional<double> blocked_share(Look& look, End end);
[[nodiscard]] std::optional<double> busiest_share(Look& look, End end);

/// Share of the sender's busy time that it spent held back by the receiver's window.
[[nodiscard]] std::optional<double> window_share(Look& look);

/// Smoothed and smallest round trip of the sender.
struct RoundTrip {
  double smoothed_us = 0;
  double smallest_us = 0;

  [[nodiscard]] double queued_us() const { return smoothed_us - smallest_us; }
};
[[nodiscard]] std::optional<RoundTrip> round_trip(Look& look);

/// Segments that the path lost, and those retransmitted needlessly (RFC 2883). Where both ends
/// counted segments, no more are lost than left one end and did not arrive at the other: that is
/// exact, and holds on a busy machine, where duplicates are not all reported.
struct Losses {
  double lost = 0;
  double spurious = 0;
  double retransmitted = 0;
  double sent = 0;

  [[nodiscard]] double share() const { return lost / sent; }
  [[nodiscard]] double spurious_share() const {
    return retransmitted > 0 ? spurious / retransmitted : 0;
  }
  /// "53 of 5353 segments lost (1 %)".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] std::optional<Losses> losses(Look& look);

/// Segments dropped inside the receiving or the sending host, beside the path: backlog, queueing
/// discipline, checksum, memory; and the largest of them for texts.
struct LocalDrops {
  double count = 0;
  std::string text;
};
[[nodiscard]] LocalDrops local_drops(Look& look);

/// Packets the sender's own queueing discipline held back: it is what limits, not the path.
[[nodiscard]] bool shaped_at_the_sender(Look& look);

/// The sum of the streams over the row's, where an experiment or another row had more of them.
[[nodiscard]] std::optional<double> ratio_with_more_streams(Look& look);

/// No payload got through: nothing but the path MTU and the peer is worth judging then. Says so.
[[nodiscard]] std::optional<std::string> stalled(Look& look);

/// The congestion control of the sender, "" where unknown.
[[nodiscard]] std::string congestion_of(Look& look);
[[nodiscard]] bool is_loss_based(std::string_view congestion);

/// CPU seconds a second that the traffic takes at an end: threads and softirq together, in cores.
[[nodiscard]] std::optional<double> work_in_cores(Look& look, End end);

/// Twice the product of bandwidth and delay, rounded up to a power of two, at least four times
/// `now`: the wire's goodput where known, else four times what was measured.
[[nodiscard]] std::int64_t fitting_buffer(Look& look, double now);

/// "on nb-b: sysctl -w …".
[[nodiscard]] std::string on(const Look& look, End end, const std::string& command);

/// Adds the command that raises the limit of buffers that applications ask for ("rmem_max" or
/// "wmem_max") at an end, or of those that the kernel tunes ("tcp_rmem", "tcp_wmem"), to `bytes`;
/// nothing where it is known to be as large already.
void raise_asked_limit(Look& look, End end, const std::string& name, std::int64_t bytes,
                       std::vector<std::string>& remedy);
void raise_tuned_limit(Look& look, End end, const std::string& name, std::int64_t bytes,
                       std::vector<std::string>& remedy);

/// "94 %", "0.91 %", "0.0046 %".
[[nodiscard]] std::string percent(double share);
/// "12.6 ms".
[[nodiscard]] std::string milliseconds(double us);

}  // namespace netbench::report
