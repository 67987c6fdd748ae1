#pragma once

#include <span>

namespace netbench::stats {

/// Quantile of type 7 (Hyndman & Fan, Am. Stat. 50 (1996)): linear between order statistics, the
/// default of R and numpy. q is clamped to [0, 1]; 0 for no values.
[[nodiscard]] double quantile(std::span<const double> values, double q);

/// As quantile(), without a copy: reorders `values`.
[[nodiscard]] double quantile_inplace(std::span<double> values, double q);

/// Middle value, or the mean of the two middle ones; 0 for no values.
[[nodiscard]] double median(std::span<const double> values);
[[nodiscard]] double median_inplace(std::span<double> values);

}  // namespace netbench::stats
