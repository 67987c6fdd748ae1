#pragma once

#include <span>
#include <vector>

#include "bench/stats/histogram.hpp"

namespace netbench::stats {

/// One hump of a distribution.
struct Mode {
  double location = 0;  ///< where the density peaks, in the data's unit
  double weight = 0;    ///< share of all values, 0 … 1
};

/// A hint, not a test: the separated humps of a distribution of positive values, ascending. Two or
/// more: flag `multimodal` (usual causes: C-states, two paths, interrupt moderation).
struct Modes {
  std::vector<Mode> modes;
  [[nodiscard]] bool multimodal() const { return modes.size() > 1; }
};

/// Humps of a Gaussian kernel density over log values that hold ≥ 10 % of the values each, with a
/// valley below half of the lower peak, ≥ 10 % apart and ≥ 4 pooled robust deviations apart (as
/// Ashman, Bird & Zepf, AJ 108 (1994)). Conservative: log-normal, heavy-tailed and autocorrelated
/// data stay at one. Fewer than 300 values: at most one mode is reported.
[[nodiscard]] Modes detect_modes(const Histogram& histogram);

/// As above for plain values (≤ 0 is left out).
[[nodiscard]] Modes detect_modes(std::span<const double> values);

}  // namespace netbench::stats
