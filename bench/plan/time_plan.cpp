#include "bench/plan/time_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace netbench::plan {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Opening, connecting and closing a point over the control channel, and reading counters.
constexpr std::int64_t kOverheadNs = 30 * kMillisecond;

struct Limits {
  std::int64_t warmup_ns;
  std::int64_t min_ns;
  std::int64_t cap_ns;
};

/// By Pattern. A stream's window is at least 0.5 s after the initial burst; 50 ms of round trips
/// are enough for the 640 samples of a first look even at 70 us.
constexpr std::array<Limits, 4> kLimits{{
    {20 * kMillisecond, 50 * kMillisecond, 5'000 * kMillisecond},
    {150 * kMillisecond, 500 * kMillisecond, 10'000 * kMillisecond},
    {100 * kMillisecond, 200 * kMillisecond, 5'000 * kMillisecond},
    {150 * kMillisecond, 500 * kMillisecond, 10'000 * kMillisecond},
}};

using Counts = std::array<std::int64_t, 4>;

Counts count_patterns(std::span<const TestPoint> points) {
  Counts counts{};
  for (const TestPoint& point : points) {
    ++counts.at(static_cast<std::size_t>(point.pattern));
  }
  return counts;
}

/// One round, when a visit of each pattern takes `time_ns` after its warm-up.
std::int64_t round_ns(const Counts& counts, const std::array<std::int64_t, 4>& time_ns) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i] * (kOverheadNs + kLimits[i].warmup_ns + time_ns[i]);
  }
  return total;
}

std::array<std::int64_t, 4> stretched(double factor) {
  std::array<std::int64_t, 4> times{};
  std::ranges::transform(kLimits, times.begin(), [factor](const Limits& limits) {
    const double time = static_cast<double>(limits.min_ns) * factor;
    return static_cast<std::int64_t>(std::min(time, static_cast<double>(limits.cap_ns)));
  });
  return times;
}

/// Largest common stretch of the minimum times whose round fits; by bisection, since caps bend it.
std::array<std::int64_t, 4> fill(const Counts& counts, std::int64_t round_budget_ns) {
  constexpr double kLargestStretch = 100;  // caps are reached by then
  double low = 1;
  double high = kLargestStretch;
  if (round_ns(counts, stretched(high)) <= round_budget_ns) {
    return stretched(high);
  }
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (round_ns(counts, stretched(middle)) <= round_budget_ns ? low : high) = middle;
  }
  return stretched(low);
}

std::string seconds(std::int64_t ns) {
  return fmt::format("{} s", std::llround(std::ceil(static_cast<double>(ns) / 1e9)));
}

std::string note_of(const TimePlan& plan, std::uint32_t asked, std::int64_t budget_ns) {
  if (!plan.fits) {
    return fmt::format(
        "the budget of {} cannot hold this plan: {} rounds need at least {}; give --budget {} or "
        "fewer levels",
        seconds(budget_ns), plan.rounds, seconds(plan.minimum_ns),
        std::llround(std::ceil(static_cast<double>(plan.minimum_ns) / 1e9)));
  }
  if (plan.rounds < asked) {
    return fmt::format("{} rounds instead of {}, to stay within the budget of {}", plan.rounds,
                       asked, seconds(budget_ns));
  }
  return {};
}

}  // namespace

TimePlan plan_time(std::span<const TestPoint> points, std::uint32_t rounds, std::int64_t budget_ns,
                   std::uint32_t min_rounds) {
  const Counts counts = count_patterns(points);
  const std::int64_t least = round_ns(counts, stretched(1));
  TimePlan plan{.rounds = rounds};
  const bool limited = budget_ns > 0;
  while (limited && plan.rounds > min_rounds && plan.rounds * least > budget_ns) {
    --plan.rounds;
  }
  plan.minimum_ns = plan.rounds * least;
  plan.fits = !limited || plan.minimum_ns <= budget_ns;
  const auto times = !limited    ? stretched(100)
                     : plan.fits ? fill(counts, budget_ns / std::max(plan.rounds, 1U))
                                 : stretched(1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    plan.by_pattern[i] = VisitTime{kLimits[i].warmup_ns, kLimits[i].min_ns, times[i]};
  }
  plan.estimate_ns = plan.rounds * round_ns(counts, times);
  plan.note = note_of(plan, rounds, budget_ns);
  return plan;
}

}  // namespace netbench::plan
