#include "bench/stats/warmup.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/stats/quantile.hpp"

namespace netbench::stats {

namespace {

constexpr std::size_t kMinBatches = 8;
constexpr std::size_t kMinRates = 4;
constexpr std::size_t kGainCycle = 8;  // phases of BBR's ProbeBW cycle (draft-cardwell-iccrg-bbr)
constexpr double kTailShare = 0.05;
constexpr double kMargin = 0.02;

/// Mean and sum of squared deviations of a growing set (Welford, Technometrics 4 (1962)).
struct RunningSpread {
  double mean = 0;
  double squares = 0;
  double n = 0;

  void add(double value) {
    n += 1;
    const double deviation = value - mean;
    mean += deviation / n;
    squares += deviation * (value - mean);
  }
};

struct Band {
  double low;
  double high;
  [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
};

/// What rates look like once steady: the bulk of the second half, with a margin.
Band steady_band(std::span<const double> rates) {
  const auto half = rates.subspan(rates.size() / 2);
  const double margin = kMargin * std::abs(median(half));
  return {quantile(half, kTailShare) - margin, quantile(half, 1 - kTailShare) + margin};
}

bool steady_from(std::span<const double> rates, std::size_t begin, const Band& band) {
  const auto window = rates.subspan(begin, std::min(kGainCycle, rates.size() - begin));
  const auto inside = std::count_if(window.begin(), window.end(),
                                    [&band](double rate) { return band.holds(rate); });
  return band.holds(window.front()) && 4 * static_cast<std::size_t>(inside) >= 3 * window.size();
}

}  // namespace

Truncation mser_truncation(std::span<const double> batch_medians, double cap) {
  const std::size_t n = batch_medians.size();
  if (n < kMinBatches) {
    return {};
  }
  const auto limit =
      static_cast<std::size_t>(std::clamp(cap, 0.0, 1.0) * static_cast<double>(n - 1));
  Truncation best;
  double best_score = std::numeric_limits<double>::infinity();
  RunningSpread kept;
  for (std::size_t d = n; d-- > 0;) {
    kept.add(batch_medians[d]);
    const double score = kept.squares / (kept.n * kept.n);
    if (d <= limit && score <= best_score) {
      best_score = score;
      best.cut = d;
    }
  }
  best.reached_cap = limit > 0 && best.cut == limit;
  return best;
}

Truncation plateau_start(std::span<const double> rates) {
  if (rates.size() < kMinRates) {
    return {};
  }
  const Band band = steady_band(rates);
  const std::size_t half = rates.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    if (steady_from(rates, i, band)) {
      return {.cut = i, .reached_cap = false};
    }
  }
  return {.cut = half, .reached_cap = true};
}

}  // namespace netbench::stats
