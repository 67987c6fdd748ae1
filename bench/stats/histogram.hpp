#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bench/core/result.hpp"

namespace netbench::stats {

/// (lowest value of a bucket, count in it), ascending; the exported form of a Histogram.
using SparseBuckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Counts of nanosecond values in log-linear buckets (layout of Tene's HdrHistogram: 128 equal
/// buckets an octave, single values below 256 ns). A bucket is at most 1/128 of its value wide, so
/// every quantile is within 0.8 %. Range 0 … 2^63-1; larger values count in the last bucket and
/// keep the true max. 57 KiB, allocated by the constructor alone. The total count stays below 2^64.
class Histogram {
 public:
  static constexpr unsigned kSubBucketBits = 7;
  static constexpr std::size_t kBuckets = (std::size_t{63} - kSubBucketBits + 1)
                                          << kSubBucketBits;  // octaves 7 … 62, and 0 … 127

  Histogram() : counts_(kBuckets, 0) {}

  /// Counts `value_ns` `times` times. Allocates nothing, never fails.
  void record(std::uint64_t value_ns, std::uint64_t times = 1) noexcept;

  /// Adds the other's counts; associative and commutative, exactly.
  void merge(const Histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// Exact extremes in ns; 0 when empty.
  [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

  /// Sum in ns (as double: 3e9 samples of 100 s exceed 2^64) and mean in ns; 0 when empty. Exact
  /// for recorded values; after from_sparse() taken from bucket middles (error ≤ 0.4 %).
  [[nodiscard]] double sum() const noexcept;
  [[nodiscard]] double mean() const noexcept;

  /// The ceil(q·n)-th smallest value in ns, interpolated by rank inside its bucket; q is clamped to
  /// [0, 1]. q=0 gives min() and q=1 max(), both exact. 0 when empty; never NaN.
  [[nodiscard]] std::uint64_t quantile(double q) const noexcept;

  /// quantile(q) where the data can carry it: n(1-q) ≥ 10 (so p99.9 needs 10,000 values). Nothing
  /// for q=1: a maximum is reported as max(), not as a quantile.
  [[nodiscard]] std::optional<std::uint64_t> reportable_quantile(double q) const noexcept;

  /// The buckets that are not empty.
  [[nodiscard]] SparseBuckets sparse() const;

  /// Inverse of sparse(), for documents read back. Errors: `bad-histogram` when values are not
  /// ascending bucket starts, a count is 0 or the total passes 2^63, or min/max lie elsewhere than
  /// in the first/last bucket (both 0 for an empty one).
  [[nodiscard]] static Result<Histogram> from_sparse(const SparseBuckets& buckets,
                                                     std::uint64_t min_ns, std::uint64_t max_ns);

  /// Lowest value of the bucket that counts `value_ns`, and that bucket's width in ns (≥ 1).
  [[nodiscard]] static std::uint64_t bucket_lowest(std::uint64_t value_ns) noexcept;
  [[nodiscard]] static std::uint64_t bucket_width(std::uint64_t value_ns) noexcept;

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  __extension__ using Sum = unsigned __int128;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  Sum sum_ = 0;
};

/// True where n(1-q) ≥ 10, so that the quantile q of n values may be reported.
[[nodiscard]] bool is_reportable(double q, std::uint64_t n) noexcept;

}  // namespace netbench::stats
