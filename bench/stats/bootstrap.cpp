#include "bench/stats/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/stats/quantile.hpp"
#include "bench/stats/rng.hpp"

namespace netbench::stats {

namespace {

constexpr std::size_t kMinSamples = 20;
constexpr double kMinTail = 10;

/// Where a quantile lies: `steps` values from the low or the high end.
struct Rank {
  bool from_high = false;
  std::size_t steps = 1;
};

Rank rank_of(double q, std::size_t n) {
  const double exact = std::ceil(q * static_cast<double>(n) * (1 - 1e-15));
  const auto low = static_cast<std::size_t>(std::clamp(exact, 1.0, static_cast<double>(n)));
  return q > 0.5 ? Rank{true, n - low + 1} : Rank{false, low};
}

/// Samples in the order in which a rank is counted.
std::vector<std::size_t> ranked(std::span<const double> samples, bool from_high) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return from_high ? samples[a] > samples[b] : samples[a] < samples[b];
  });
  return order;
}

/// How many of the blocks starting at `starts` (sorted) hold sample `index`.
std::size_t times_drawn(std::span<const std::size_t> starts, std::size_t index,
                        std::size_t length) {
  const std::size_t first = index + 1 < length ? 0 : index + 1 - length;
  const auto begin = std::lower_bound(starts.begin(), starts.end(), first);
  return static_cast<std::size_t>(std::upper_bound(begin, starts.end(), index) - begin);
}

/// The value `steps` from its end in the resample made of these blocks.
double resampled(std::span<const double> samples, std::span<const std::size_t> order,
                 std::span<const std::size_t> starts, std::size_t length, std::size_t steps) {
  std::size_t seen = 0;
  for (const std::size_t index : order) {
    seen += times_drawn(starts, index, length);
    if (seen >= steps) {
      return samples[index];
    }
  }
  return samples[order.back()];
}

std::vector<double> resample_quantiles(std::span<const double> samples, double q,
                                       std::span<const std::size_t> order,
                                       const BootstrapOptions& options) {
  const std::size_t n = samples.size();
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  const std::size_t length =
      std::clamp<std::size_t>(options.block_length == 0 ? root : options.block_length, 1, n);
  std::vector<std::size_t> starts((n + length - 1) / length);
  const std::size_t steps = rank_of(q, starts.size() * length).steps;
  Rng rng(options.seed);
  std::vector<double> quantiles(options.resamples);
  for (double& value : quantiles) {
    std::generate(starts.begin(), starts.end(),
                  [&] { return static_cast<std::size_t>(rng.below(n - length + 1)); });
    std::sort(starts.begin(), starts.end());
    value = resampled(samples, order, starts, length, steps);
  }
  return quantiles;
}

}  // namespace

Estimate bootstrap_quantile(std::span<const double> samples, double q,
                            const BootstrapOptions& options) {
  Estimate estimate;
  estimate.level = options.level;
  estimate.n = static_cast<std::int64_t>(samples.size());
  if (samples.empty()) {
    return estimate;
  }
  const Rank rank = rank_of(q, samples.size());
  const std::vector<std::size_t> order = ranked(samples, rank.from_high);
  estimate.value = samples[order[rank.steps - 1]];
  estimate.low = estimate.high = estimate.value;
  const double tail = static_cast<double>(samples.size()) * std::min(q, 1 - q);
  if (samples.size() < kMinSamples || tail < kMinTail - 1e-6 || options.resamples == 0) {
    return estimate;
  }
  std::vector<double> quantiles = resample_quantiles(samples, q, order, options);
  const double outside = (1 - options.level) / 2;
  estimate.low = std::min(quantile_inplace(quantiles, outside), estimate.value);
  estimate.high = std::max(quantile_inplace(quantiles, 1 - outside), estimate.value);
  estimate.has_interval = true;
  return estimate;
}

}  // namespace netbench::stats
