#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/measure/initiator.hpp"
#include "bench/model/document.hpp"
#include "bench/plan/plan.hpp"

namespace netbench::measure {

/// A point as it was measured, and the same with one thing changed.
struct Trial {
  Intervention record;  // id, row, change and metric; the rest is what the trial shows
  plan::TestPoint base;
  plan::TestPoint changed;
};

struct TrialOptions {
  std::int64_t budget_ns = 10'000'000'000;
  std::uint64_t seed = 1;
  std::uint32_t pairs = 5;  // fewer where the budget does not allow them, never under 2
  /// Called before each pair of a trial, from 0.
  std::function<void(const Intervention&, std::uint32_t pair)> on_pair = {};
  std::function<std::int64_t()> now_ns = monotonic_ns;
};

struct TrialRun {
  /// Those that were tried, and with n_pairs 0 and a note those that could not be. Trials for which
  /// the budget had no time are left out.
  std::vector<Intervention> interventions;
  /// What ended the trials early: `interrupted`, or that the peer was lost.
  Status outcome;
};

/// Visits base and changed points in turn (A-B-A-B), about 0.8 s each, reconnected, and compares
/// them pair by pair. Trials of one row take turns with the same visits of the base.
/// [control-thread]
[[nodiscard]] TrialRun run_trials(std::span<const Trial> trials, const SweepContext& context,
                                  const TrialOptions& options);

/// Fills base, changed, ratio, its interval and n_pairs from values that were measured in turn:
/// the median of the pairs' ratios with a 95 % percentile interval of the bootstrap over pairs
/// (Efron, Ann. Stat. 7 (1979)); with 5 pairs that is from the least to the largest ratio. Pairs
/// without two positive values do not count.
void compare_pairs(std::span<const double> base, std::span<const double> changed,
                   std::uint64_t seed, Intervention& record);

}  // namespace netbench::measure
