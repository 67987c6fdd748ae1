#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"
#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

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
