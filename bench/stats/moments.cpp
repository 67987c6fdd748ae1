#include "bench/stats/moments.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace netbench::stats {

double mean(std::span<const double> values) {
  if (values.empty()) {
    return 0;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_variance(std::span<const double> values) {
  if (values.size() < 2) {
    return 0;
  }
  const double centre = mean(values);
  const double squares = std::accumulate(
      values.begin(), values.end(), 0.0,
      [centre](double sum, double value) { return sum + (value - centre) * (value - centre); });
  return squares / static_cast<double>(values.size() - 1);
}

std::vector<double> logs(std::span<const double> values) {
  std::vector<double> result;
  result.reserve(values.size());
  std::transform(values.begin(), values.end(), std::back_inserter(result),
                 [](double value) { return std::log(value); });
  return result;
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value) && value > 0; });
}

}  // namespace netbench::stats
