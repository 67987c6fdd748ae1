#include "bench/stats/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace netbench::stats {

double quantile_inplace(std::span<double> values, double q) {
  if (values.empty()) {
    return 0;
  }
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const double whole = std::floor(position);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(whole);
  std::nth_element(values.begin(), middle, values.end());
  const double fraction = position - whole;
  if (fraction <= 0 || middle + 1 == values.end()) {
    return *middle;
  }
  const double next = *std::min_element(middle + 1, values.end());
  return *middle + fraction * (next - *middle);
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> copy(values.begin(), values.end());
  return quantile_inplace(copy, q);
}

double median_inplace(std::span<double> values) { return quantile_inplace(values, 0.5); }

double median(std::span<const double> values) { return quantile(values, 0.5); }

}  // namespace netbench::stats
