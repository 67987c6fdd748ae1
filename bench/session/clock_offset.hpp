#pragma once

#include <cstdint>
#include <span>

#include "bench/core/result.hpp"
#include "bench/session/channel.hpp"

namespace netbench::session {

/// CLOCK_REALTIME in nanoseconds.
[[nodiscard]] std::int64_t realtime_ns();

/// One question and its answer, in nanoseconds of CLOCK_REALTIME: asked and answered by this host's
/// clock, in between the other's.
struct ClockSample {
  std::int64_t asked_ns = 0;
  std::int64_t theirs_ns = 0;
  std::int64_t answered_ns = 0;
};

/// How far the other host's clock is ahead. The truth lies within the uncertainty, which is half of
/// the round trip: the ways there and back may differ.
struct ClockOffset {
  double offset_s = 0;
  double uncertainty_s = 0;
};

/// From the sample with the shortest round trip (Cristian, Distributed Computing 3 (1989); RFC
/// 5905, section 10, keeps the least delayed too). At least one sample. Pure.
[[nodiscard]] ClockOffset clock_offset(std::span<const ClockSample> samples);

/// Asks the agent a few times, which takes as many round trips. Errors: those of the channel, and
/// `protocol` from an agent that does not know the question.
[[nodiscard]] Result<ClockOffset> measure_clock_offset(Channel& channel);

}  // namespace netbench::session
