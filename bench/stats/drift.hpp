#pragma once

#include <span>

namespace netbench::stats {

/// Trend over a round. `drifting` is the flag: p < 0.01 and a total change beyond 2 %.
struct Drift {
  double total_relative = 0;  ///< Theil–Sen slope × length over the median; +0.05 = rose by 5 %
  double p_value = 1;         ///< two-sided Mann–Kendall
  bool drifting = false;
};

inline constexpr double kDriftMaxP = 0.01;
inline constexpr double kDriftMinChange = 0.02;

/// Theil–Sen slope (Sen, JASA 63 (1968)) and Mann–Kendall test with ties (Kendall 1975) of batch
/// medians or window rates, in order. The variance is widened for autocorrelation of the detrended
/// series (Yue & Wang, Water Resour. Manag. 18 (2004)). Long series are first reduced to medians of
/// 100 stretches, which bounds the cost. Fewer than 8 values: no drift.
[[nodiscard]] Drift detect_drift(std::span<const double> values);

}  // namespace netbench::stats
