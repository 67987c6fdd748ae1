#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "bench/plan/plan.hpp"

namespace netbench::plan {

/// Limits of one visit. The stopping rule works between min and max, after the warm-up.
struct VisitTime {
  std::int64_t warmup_ns = 0;    // at most; streams stay in it until the rate is on a plateau
  std::int64_t min_time_ns = 0;  // a stream needs a window of at least 0.5 s
  std::int64_t max_time_ns = 0;
};

struct TimePlan {
  std::uint32_t rounds = 0;  // as asked, or fewer where the budget could not hold them
  std::array<VisitTime, 4> by_pattern{};
  std::int64_t estimate_ns = 0;  // of the whole plan, when every visit takes its max
  std::int64_t minimum_ns = 0;   // of the whole plan, when every visit takes its min
  bool fits = true;              // false: even `min_rounds` at the minimum exceed the budget
  std::string note{};  // what was dropped or does not fit, and how to have it; may be empty

  [[nodiscard]] const VisitTime& of(Pattern pattern) const {
    return by_pattern[static_cast<std::size_t>(pattern)];
  }
};

/// Divides a budget over a plan: what is left above the minimum stretches every visit alike, up to
/// a cap by pattern. Rounds are dropped one by one, down to `min_rounds`, before a visit gets less
/// than its minimum. budget_ns 0: no limit, every visit may take its cap.
[[nodiscard]] TimePlan plan_time(std::span<const TestPoint> points, std::uint32_t rounds,
                                 std::int64_t budget_ns, std::uint32_t min_rounds = 3);

}  // namespace netbench::plan
