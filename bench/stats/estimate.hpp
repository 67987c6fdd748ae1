#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace netbench::stats {

/// A value with its confidence interval, in the unit of the data. Without interval (one value, or
/// none) `has_interval` is false and low = high = value; no field is ever NaN for finite data.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  double level = 0.95;
  std::int64_t n = 0;  ///< values behind it: rounds, or samples inside one round
  bool has_interval = false;

  /// Half the interval's width over |value|; 0 without interval or when the value is 0.
  [[nodiscard]] double relative_half_width() const;
};

/// Super-batches that carry a round's interval; 20 keeps the t interval near its level under
/// autocorrelation (Schmeiser, Oper. Res. 30 (1982): 10 to 30 batches suffice).
inline constexpr std::size_t kSuperbatches = 20;

/// A point's estimate across its rounds: median of the round values; interval by Student's t on
/// their logarithms (on the plain values where one is ≤ 0), widened to hold the median. n = rounds.
[[nodiscard]] Estimate median_of_rounds(std::span<const double> round_values, double level = 0.95);

/// A round's own median: value = median of all samples; interval by t on the medians of 20
/// consecutive super-batches (method of batch means), widened to hold the value. Fewer than 20
/// samples are each a super-batch. n = samples.
[[nodiscard]] Estimate superbatch_interval(std::span<const double> samples, double level = 0.95);

/// Medians of `batches` consecutive, equally long (± 1) stretches covering all samples, in order;
/// with fewer samples than batches, the samples.
[[nodiscard]] std::vector<double> superbatch_medians(std::span<const double> samples,
                                                     std::size_t batches = kSuperbatches);

/// As superbatch_interval(), where the medians are at hand already.
[[nodiscard]] Estimate interval_of_medians(double value, std::span<const double> medians,
                                           double level = 0.95);

/// Lag-1 autocorrelation r1 (Box & Jenkins); 0 for fewer than 3 values or constant ones.
[[nodiscard]] double lag1_autocorrelation(std::span<const double> values);

}  // namespace netbench::stats
