#pragma once

#include <span>
#include <vector>

namespace netbench::stats {

/// Arithmetic mean; 0 for no values.
[[nodiscard]] double mean(std::span<const double> values);

/// Sample variance (divisor n-1), two passes; 0 for fewer than two values.
[[nodiscard]] double sample_variance(std::span<const double> values);

/// Natural logarithms, in order. Values must be > 0.
[[nodiscard]] std::vector<double> logs(std::span<const double> values);

/// True when every value is finite and > 0, so that logs() applies.
[[nodiscard]] bool all_positive(std::span<const double> values);

}  // namespace netbench::stats
