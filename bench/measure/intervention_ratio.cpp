#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/measure/intervention.hpp"
#include "bench/stats/quantile.hpp"
#include "bench/stats/rng.hpp"

namespace netbench::measure {

namespace {

constexpr int kResamples = 2000;
constexpr double kTail = 0.025;

/// Medians of resamples with replacement, sorted.
std::vector<double> resampled_medians(std::span<const double> values, std::uint64_t seed) {
  stats::Rng rng(seed);
  std::vector<double> medians;
  std::vector<double> sample(values.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : sample) {
      value = values[static_cast<std::size_t>(rng.below(values.size()))];
    }
    medians.push_back(stats::median_inplace(sample));
  }
  std::ranges::sort(medians);
  return medians;
}

/// An order statistic: an interval never ends between two values that were seen.
double percentile(const std::vector<double>& sorted, double q) {
  const auto index = static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1));
  return sorted[index];
}

bool counts(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

void compare_pairs(std::span<const double> base, std::span<const double> changed,
                   std::uint64_t seed, Intervention& record) {
  std::vector<double> ratios;
  std::vector<double> before;
  std::vector<double> after;
  for (std::size_t i = 0; i < std::min(base.size(), changed.size()); ++i) {
    if (counts(base[i]) && counts(changed[i])) {
      before.push_back(base[i]);
      after.push_back(changed[i]);
      ratios.push_back(changed[i] / base[i]);
    }
  }
  record.n_pairs = static_cast<std::uint32_t>(ratios.size());
  if (ratios.empty()) {
    return;
  }
  const std::vector<double> medians = resampled_medians(ratios, seed);
  record.base = stats::median(before);
  record.changed = stats::median(after);
  record.ratio = stats::median(ratios);
  record.ratio_low = percentile(medians, kTail);
  record.ratio_high = percentile(medians, 1 - kTail);
}

}  // namespace netbench::measure
