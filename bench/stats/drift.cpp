#include "bench/stats/drift.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bench/stats/estimate.hpp"
#include "bench/stats/quantile.hpp"
#include "bench/stats/student_t.hpp"

namespace netbench::stats {

namespace {

constexpr std::size_t kMinValues = 8;
constexpr std::size_t kMaxStretches = 100;
constexpr double kMaxRho = 0.95;

double theil_sen_slope(std::span<const double> values) {
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t j = 1; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return median_inplace(slopes);
}

/// Kendall's S: rising pairs less falling pairs.
double kendall_s(std::span<const double> values) {
  double s = 0;
  for (std::size_t j = 1; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      s += static_cast<double>(values[j] > values[i]) - static_cast<double>(values[j] < values[i]);
    }
  }
  return s;
}

/// Variance of S without trend, for independent values, corrected for groups of ties.
double kendall_variance(std::span<const double> values) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  double total = term(static_cast<double>(sorted.size()));
  for (auto group = sorted.begin(); group != sorted.end();) {
    const auto end = std::upper_bound(group, sorted.end(), *group);
    total -= term(static_cast<double>(end - group));
    group = end;
  }
  return total / 18;
}

/// (1+ρ)/(1-ρ) for the lag-1 autocorrelation ρ > 0 of the series without its trend.
double correlation_factor(std::span<const double> values, double slope) {
  std::vector<double> residuals(values.begin(), values.end());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    residuals[i] -= slope * static_cast<double>(i);
  }
  const double rho = std::clamp(lag1_autocorrelation(residuals), 0.0, kMaxRho);
  return (1 + rho) / (1 - rho);
}

}  // namespace

Drift detect_drift(std::span<const double> values) {
  const std::vector<double> stretches = superbatch_medians(values, kMaxStretches);
  if (stretches.size() < kMinValues) {
    return {};
  }
  const double slope = theil_sen_slope(stretches);
  const double variance = kendall_variance(stretches) * correlation_factor(stretches, slope);
  const double s = kendall_s(stretches);
  const double z = variance > 0 ? std::max(std::abs(s) - 1, 0.0) / std::sqrt(variance) : 0.0;
  const double level = std::abs(median(stretches));
  Drift drift;
  drift.total_relative = level > 0 ? slope * static_cast<double>(stretches.size() - 1) / level : 0;
  drift.p_value = 2 * normal_cdf(-z);
  drift.drifting = drift.p_value < kDriftMaxP && std::abs(drift.total_relative) > kDriftMinChange;
  return drift;
}

}  // namespace netbench::stats
