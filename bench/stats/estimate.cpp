#include "bench/stats/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "bench/stats/moments.hpp"
#include "bench/stats/quantile.hpp"
#include "bench/stats/student_t.hpp"

namespace netbench::stats {

namespace {

/// Half-width of Student's interval of the mean; needs two values.
double t_half_width(std::span<const double> values, double level) {
  const auto n = static_cast<double>(values.size());
  return student_t_critical(level, n - 1) * std::sqrt(sample_variance(values) / n);
}

Estimate without_interval(double value, double level, std::size_t n) {
  return {.value = value,
          .low = value,
          .high = value,
          .level = level,
          .n = static_cast<std::int64_t>(n),
          .has_interval = false};
}

}  // namespace

double Estimate::relative_half_width() const {
  return has_interval && value != 0 ? (high - low) / 2 / std::abs(value) : 0.0;
}

Estimate interval_of_medians(double value, std::span<const double> medians, double level) {
  Estimate estimate = without_interval(value, level, medians.size());
  if (medians.size() < 2) {
    return estimate;
  }
  const double centre = mean(medians);
  const double half = t_half_width(medians, level);
  estimate.low = std::min(centre - half, value);
  estimate.high = std::max(centre + half, value);
  estimate.has_interval = true;
  return estimate;
}

Estimate median_of_rounds(std::span<const double> round_values, double level) {
  const double value = median(round_values);
  if (!all_positive(round_values) || round_values.size() < 2) {
    return interval_of_medians(value, round_values, level);
  }
  const std::vector<double> logarithms = logs(round_values);
  Estimate estimate = interval_of_medians(std::log(value), logarithms, level);
  estimate.value = value;
  estimate.low = std::min(std::exp(estimate.low), value);
  estimate.high = std::max(std::exp(estimate.high), value);
  return estimate;
}

std::vector<double> superbatch_medians(std::span<const double> samples, std::size_t batches) {
  const std::size_t parts = std::min(batches, samples.size());
  std::vector<double> medians;
  medians.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = samples.size() * i / parts;
    const std::size_t end = samples.size() * (i + 1) / parts;
    medians.push_back(median(samples.subspan(begin, end - begin)));
  }
  return medians;
}

Estimate superbatch_interval(std::span<const double> samples, double level) {
  Estimate estimate = interval_of_medians(median(samples), superbatch_medians(samples), level);
  estimate.n = static_cast<std::int64_t>(samples.size());
  return estimate;
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 3) {
    return 0;
  }
  const double centre = mean(values);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i] - centre;
    squares += deviation * deviation;
    products += i + 1 < values.size() ? deviation * (values[i + 1] - centre) : 0.0;
  }
  return squares > 0 ? products / squares : 0.0;
}

}  // namespace netbench::stats
