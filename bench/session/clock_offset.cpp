#include "bench/session/clock_offset.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/session/messages.hpp"

namespace netbench::session {

namespace {

constexpr int kSamples = 5;
constexpr Nanoseconds kLimit = std::chrono::seconds(2);
/// On long paths fewer samples must do.
constexpr Nanoseconds kEnough = std::chrono::milliseconds(300);
constexpr double kNano = 1e-9;

std::int64_t round_trip_ns(const ClockSample& sample) {
  return sample.answered_ns - sample.asked_ns;
}

}  // namespace

std::int64_t realtime_ns() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Nanoseconds>(since).count();
}

ClockOffset clock_offset(std::span<const ClockSample> samples) {
  const ClockSample& best = *std::ranges::min_element(samples, {}, round_trip_ns);
  const double half_ns = static_cast<double>(round_trip_ns(best)) / 2;
  return {kNano * (static_cast<double>(best.theirs_ns - best.asked_ns) - half_ns), kNano * half_ns};
}

Result<ClockOffset> measure_clock_offset(Channel& channel) {
  std::vector<ClockSample> samples;
  const Deadline enough = Deadline::after(kEnough);
  for (int i = 0; i < kSamples && (samples.empty() || !enough.passed()); ++i) {
    ClockSample sample;
    sample.asked_ns = realtime_ns();
    const auto reply = ask<ClockReply>(channel, ClockRequest{}, kLimit);
    sample.answered_ns = realtime_ns();
    if (!reply) {
      return tl::unexpected(reply.error());
    }
    sample.theirs_ns = reply->utc_ns;
    samples.push_back(sample);
  }
  return clock_offset(samples);
}

}  // namespace netbench::session
