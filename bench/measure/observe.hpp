#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bench/core/result.hpp"
#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// How long and how precisely one visit measures. Times are of the transport's clock.
struct VisitLimits {
  std::int64_t min_time_ns = 250'000'000;
  std::int64_t max_time_ns = 5'000'000'000;
  double precision = 0.01;  // relative half-width of the interval that ends a visit early
};

/// One batch as the transport reports it; times on its clock.
struct BatchTimes {
  std::size_t samples = 0;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Runs `iterations` operations and fills one time in ns for each. [io-thread]
using PingPongBatch =
    std::function<Result<BatchTimes>(std::int64_t iterations, std::span<std::uint64_t> samples_ns)>;
/// Observes a receiving stream end for `duration_ns`. [io-thread]
using WindowBatch = std::function<Result<BatchTimes>(std::int64_t duration_ns)>;

/// Measures round trips: warm-up (at least 100 operations and a twentieth of max_time, at most a
/// half of it; cut by MSER on batch medians), then batches of ≥ 1 ms until the stopping rule is
/// content. Every sample after the cut is in the histogram. Stops early, with `cancelled`, when
/// `interrupted` says so. A failing batch ends the visit with its error.
[[nodiscard]] Result<LatencyRecord> observe_latency(const PingPongBatch& run,
                                                    const VisitLimits& limits,
                                                    const std::function<bool()>& interrupted);

/// Measures the rate of a receiving end in windows until it is on its plateau and the stopping rule
/// is content; at least 0.5 s after the cut. goodput = bytes / time after the cut; its interval is
/// Student's t on the means of 20 super-batches of windows.
[[nodiscard]] Result<StreamRecord> observe_stream(const WindowBatch& run, const VisitLimits& limits,
                                                  const std::function<bool()>& interrupted);

/// Flags that the records of a round justify: drift, multimodal, no_steady_state, too_short.
[[nodiscard]] std::set<std::string> observation_flags(const LatencyRecord& record);
[[nodiscard]] std::set<std::string> observation_flags(const StreamRecord& record);

}  // namespace netbench::measure
