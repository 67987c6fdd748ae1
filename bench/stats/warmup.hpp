#pragma once

#include <cstddef>
#include <span>

namespace netbench::stats {

/// How much of the head of a series is warm-up.
struct Truncation {
  std::size_t cut = 0;       ///< values to discard; the first kept index
  bool reached_cap = false;  ///< no steady state inside the cap: flag `no_steady_state`
};

/// MSER truncation (White, Simulation 69 (1997)) of batch medians: the cut d that minimises
/// Σ(y-ȳ)²/(n-d)² over the values kept. At most `cap` (0 … 1) of the series is cut; reached_cap
/// when the minimum lies there. Fewer than 8 values: no cut.
[[nodiscard]] Truncation mser_truncation(std::span<const double> batch_medians, double cap = 0.5);

/// First index from which a receiver's rate series is on its plateau: that value and three of four
/// of the next (up to 8, one BBR ProbeBW gain cycle) lie within the 5–95 % range of the series'
/// second half, ± 2 %. So a start-up ramp, an initial burst and a stall are cut, periodic gain
/// cycles are not. reached_cap when none is found in the first half (cut = half). Fewer than 4
/// values: no cut. Rates in any unit.
[[nodiscard]] Truncation plateau_start(std::span<const double> rates);

}  // namespace netbench::stats
