#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/core/units.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"
#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

// Measured: a send buffer that limits leaves nothing unsent in it, blocks the writer more than 0.9
// of its time and gives 0.7 … 1.0 of 0.85 x buffer / smallest round trip, 0.3 on a busy host.
// sndbuf_limited shows it with BBR alone (0.36 … 0.84; CUBIC and Reno 0.00 … 0.02).
constexpr double kNear = 0.6;
constexpr double kNearWithProof = 0.3;
constexpr double kBroken = 1.5;
constexpr double kHeldBack = 0.3;
constexpr double kWriterBlocked = 0.8;
constexpr double kUnsent = 0.1;
constexpr double kPayload = 0.85;
constexpr double kAtCeiling = 0.95;
/// Measured: a cap of 200 Mb/s gave 198.7.
constexpr double kPaced = 0.9;
constexpr double kPacedBroken = 1.3;

enum class Tuning { asked, at_ceiling, tuned, unknown };

struct Buffer {
  Tuning tuning = Tuning::unknown;
  std::optional<double> bytes;  // of all connections
  double nearness = 0;
  std::string text;
};

double streams_of(Look& look) {
  return std::max(1.0, look.setting(End::sender, "tcp.streams").value_or(1));
}

Buffer buffer_of(Look& look) {
  Buffer buffer;
  buffer.bytes = look.typical(End::sender, "sock.sndbuf_bytes");
  if (look.asked_for("tcp.sndbuf")) {
    buffer.tuning = Tuning::asked;
    if (const auto set = buffer.bytes ? std::nullopt : look.setting(End::sender, "tcp.sndbuf")) {
      buffer.bytes = *set * streams_of(look);
    }
    return buffer;
  }
  const auto ceiling = look.fact(End::sender, "sysctl.net.ipv4.tcp_wmem_max_bytes");
  if (buffer.bytes && ceiling) {
    buffer.tuning = *buffer.bytes >= kAtCeiling * *ceiling * streams_of(look) ? Tuning::at_ceiling
                                                                              : Tuning::tuned;
  }
  return buffer;
}

/// How full the pipe is with what the buffer holds, at the round trip that was: with a fixed buffer
/// all of which is in flight, that is the limit even where queues lengthen the round trip.
double share_in_flight(Look& look, const Buffer& buffer) {
  const auto goodput = look.goodput_bps();
  const auto trip = round_trip(look);
  if (buffer.tuning != Tuning::asked || !buffer.bytes || !goodput || !trip) {
    return 0;
  }
  return std::min(1.0, *goodput / 8 * trip->smoothed_us * 1e-6 / (kPayload * *buffer.bytes));
}

std::optional<Verdict> speaks_against_buffer(Look& look, const Buffer& buffer) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const auto window = window_share(look);
  if (window && *window >= kHeldBack) {
    return silent(
        fmt::format("the receiver's window held it back {} of the busy time", percent(*window)));
  }
  const auto blocked = blocked_share(look, End::sender);
  if (blocked && *blocked < kWriterBlocked) {
    return silent(fmt::format("the writer was blocked only {} of the time", percent(*blocked)));
  }
  const auto unsent = look.typical(End::sender, "tcp_info.notsent_bytes");
  if (unsent && *unsent > kUnsent * buffer.bytes.value_or(1 << 18)) {
    return silent(fmt::format("{:.0f} kB wait unsent in the buffer: the path is what is slow",
                              *unsent / 1e3));
  }
  return std::nullopt;
}

Verdict too_small(Look& look, const Buffer& buffer) {
  const double now = buffer.bytes.value_or(0) / streams_of(look);
  const std::int64_t wanted = fitting_buffer(look, now);
  const std::string size =
      buffer.bytes ? format_bytes(static_cast<std::int64_t>(now)) : std::string("its size");
  const bool asked = buffer.tuning == Tuning::asked;
  std::vector<std::string> remedy;
  if (asked || buffer.tuning == Tuning::unknown) {
    remedy.push_back(
        fmt::format("leave out --tcp.sndbuf (in an application: do not set SO_SNDBUF), "
                    "or --tcp.sndbuf {}",
                    wanted / 2));
    remedy.push_back(
        on(look, End::sender, fmt::format("sysctl -w net.core.wmem_max={}", wanted / 2)));
  }
  if (!asked) {
    remedy.push_back(on(look, End::sender,
                        fmt::format("sysctl -w net.ipv4.tcp_wmem=\"4096 65536 {}\"", wanted)));
  }
  return fires(buffer.tuning == Tuning::unknown ? Confidence::possible : Confidence::likely,
               std::min(1.0, buffer.nearness), buffer.text,
               fmt::format("the send buffer of {} ({}{}) holds less than this path needs in flight",
                           look.host_name(End::sender), asked ? "fixed at " : "", size),
               std::move(remedy));
}

/// Rate of the last third of a round over that of the middle third, after the warm-up.
std::optional<double> growth_of(const StreamRecord& record) {
  std::vector<double> rates;
  for (const SeriesPoint& point : record.series) {
    if (point.end_ns > record.warmup_cut_ns && point.duration_ns > 0) {
      rates.push_back(static_cast<double>(point.bytes) / static_cast<double>(point.duration_ns));
    }
  }
  const auto third = static_cast<std::ptrdiff_t>(rates.size() / 3);
  if (third < 2) {
    return std::nullopt;
  }
  const double middle = std::accumulate(rates.end() - 2 * third, rates.end() - third, 0.0);
  const double last = std::accumulate(rates.end() - third, rates.end(), 0.0);
  return middle > 0 ? std::optional(last / middle) : std::nullopt;
}

/// The median over the rounds.
std::optional<double> growth(Look& look) {
  std::vector<double> growths;
  for (const Round& round : look.row()->rounds) {
    const auto& record = round.forward ? round.forward : round.reverse;
    if (const auto one = record ? growth_of(*record) : std::nullopt) {
      growths.push_back(*one);
    }
  }
  if (growths.empty()) {
    return std::nullopt;
  }
  std::ranges::nth_element(growths,
                           growths.begin() + static_cast<std::ptrdiff_t>(growths.size() / 2));
  return growths[growths.size() / 2];
}

}  // namespace

Verdict judge_send_buffer(Look& look) {
  Buffer buffer = buffer_of(look);
  if (auto against = speaks_against_buffer(look, buffer)) {
    return *against;
  }
  const Bound* bound = look.bound("send-buffer");
  if (bound == nullptr) {
    return unknown("the send buffer or the smallest round trip was not read");
  }
  buffer.nearness = std::max(bound->nearness, share_in_flight(look, buffer));
  buffer.text = fmt::format("{:.2f} of {}, {:.2f} of it in flight", bound->nearness,
                            bound->arithmetic, share_in_flight(look, buffer));
  if (bound->nearness > kBroken) {
    return unknown(buffer.text + ": more than it allows, so it was not the buffer in effect");
  }
  if (buffer.tuning == Tuning::tuned) {
    return silent(buffer.text + ", and the kernel tunes it and is below its ceiling");
  }
  const auto limited =
      look.ratio(End::sender, "tcp_info.sndbuf_limited_us", "tcp_info.busy_time_us");
  const bool empty = look.typical(End::sender, "tcp_info.notsent_bytes") == 0.0;
  const bool proof = limited.value_or(0) > kHeldBack || empty;
  if (buffer.nearness < (proof ? kNearWithProof : kNear)) {
    return silent(buffer.text);
  }
  return buffer.tuning == Tuning::unknown && !proof
             ? unknown(buffer.text + ", but nothing says that the buffer ran empty")
             : too_small(look, buffer);
}

Verdict judge_pacing(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const Bound* bound = look.bound("pacing");
  if (bound == nullptr) {
    const auto cap = look.typical(End::sender, "tcp_info.max_pacing_rate");
    return cap ? silent("no connection has a pacing cap") : unknown("no pacing cap was read");
  }
  const std::string why = fmt::format("{:.2f} of {}", bound->nearness, bound->arithmetic);
  if (bound->nearness > kPacedBroken) {
    return unknown(why + ": more than it allows, so it was not in effect");
  }
  if (bound->nearness < kPaced) {
    return silent(why);
  }
  return fires(
      Confidence::likely, std::min(1.0, bound->nearness), why,
      fmt::format("{} paces its connections: {}", look.host_name(End::sender), bound->arithmetic),
      {look.asked_for("tcp.pacing") ? std::string("leave out --tcp.pacing")
                                    : std::string("remove SO_MAX_PACING_RATE from the application"),
       on(look, End::sender,
          fmt::format("tc -s qdisc show dev {0}  # fq with maxrate: tc qdisc replace dev "
                      "{0} root fq",
                      look.interface(End::sender)))});
}

Verdict judge_growing(Look& look) {
  // Windows double or creep up once a round trip: short paths are done before a round has begun.
  constexpr double kLongPath_us = 1000;
  constexpr double kGrows = 1.10;
  constexpr double kGrowsWithoutThreshold = 1.25;
  constexpr double kNoThreshold = 2147483647;  // tcp_info.snd_ssthresh before the first loss
  const auto grown = growth(look);
  const auto trip = round_trip(look);
  if (!grown || !trip) {
    return unknown("the rate over time or the round trip was not read");
  }
  const std::string why = fmt::format(
      "rate x{:.2f} from the middle to the last third of a round, "
      "smallest round trip {}",
      *grown, milliseconds(trip->smallest_us));
  const auto threshold = look.typical(End::sender, "tcp_info.snd_ssthresh");
  const bool before_loss = threshold && *threshold >= kNoThreshold;
  const double needed = before_loss ? kGrows : kGrowsWithoutThreshold;
  if (*grown < needed || trip->smallest_us < kLongPath_us || (threshold && !before_loss)) {
    return silent(why);
  }
  return fires(Confidence::possible, std::min(1.0, 1 / *grown), why,
               "the rate was still growing at the end: the rounds are too short for this round "
               "trip, or the congestion control is too slow for it",
               {"netbench pair --peer HOST --thorough  # longer rounds",
                "netbench pair --peer HOST --tcp.congestion cubic,bbr"});
}

// RFC 5681, section 4.1: the window restarts after an idle time of one retransmission timeout.
Verdict judge_slow_start_after_idle(Look& look) {
  constexpr double kLongPath_us = 1000;
  constexpr double kBurstSegments = 10;  // initial window, RFC 6928
  const auto rate_bps =
      look.asked_for("tcp.write_rate") ? look.setting(End::sender, "tcp.write_rate") : std::nullopt;
  if (!rate_bps || *rate_bps <= 0) {
    return silent("the sender offers data all the time, not in bursts");
  }
  const auto timeout_us = look.typical(End::sender, "tcp_info.rto_us");
  const auto mss = look.typical(End::sender, "tcp_info.snd_mss");
  const auto trip = round_trip(look);
  const auto restarts = look.fact(End::sender, "sysctl.net.ipv4.tcp_slow_start_after_idle");
  if (!timeout_us || !mss || !trip || !restarts) {
    return unknown("the timeout, the segment, the round trip or the sysctl was not read");
  }
  const auto burst_bytes = static_cast<double>(look.row()->size_bytes);
  const double gap_us = burst_bytes * 8 / *rate_bps * 1e6;
  const std::string why = fmt::format(
      "bursts of {:.0f} B every {}, timeout {}, smallest round trip {}, "
      "tcp_slow_start_after_idle {:.0f}",
      burst_bytes, milliseconds(gap_us), milliseconds(*timeout_us), milliseconds(trip->smallest_us),
      *restarts);
  if (*restarts == 0 || gap_us <= *timeout_us || burst_bytes <= kBurstSegments * *mss ||
      trip->smallest_us <= kLongPath_us) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.5, why,
               "every burst starts from a small window again, since the connection was idle for "
               "longer than its timeout",
               {on(look, End::sender, "sysctl -w net.ipv4.tcp_slow_start_after_idle=0")});
}

// RFC 2018 and RFC 7323: without them several losses in a window cost a timeout. Measured: 1 % loss
// over 10 ms gives 12.3 Mb/s with and 9.8 without selective acknowledgements.
Verdict judge_options_off(Look& look) {
  constexpr unsigned kTimestamps = 1;
  constexpr unsigned kSack = 2;
  const auto options = look.typical(End::sender, "tcp_info.options");
  const auto lost = losses(look);
  if (!options || !lost) {
    return unknown("the connection's options or its losses were not read");
  }
  const unsigned missing = (kTimestamps | kSack) & ~static_cast<unsigned>(*options);
  if (missing == 0) {
    return silent("selective acknowledgements and timestamps are on");
  }
  const std::string what = missing == kSack ? "selective acknowledgements are"
                           : missing == kTimestamps
                               ? "timestamps are"
                               : "selective acknowledgements and timestamps are";
  const std::string why = fmt::format("{} off; {}", what, lost->text());
  if (lost->lost < 1) {
    return silent(why);
  }
  std::vector<std::string> remedy;
  for (const End end : kEnds) {
    remedy.push_back(on(look, end, "sysctl -w net.ipv4.tcp_sack=1 net.ipv4.tcp_timestamps=1"));
  }
  return fires(Confidence::likely, 0.2, why,
               fmt::format("{} off, which makes the losses of this path dearer", what),
               std::move(remedy));
}

}  // namespace netbench::report
