#include "bench/stats/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace netbench::stats {

namespace {

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63) - 1;
constexpr unsigned kBits = Histogram::kSubBucketBits;
constexpr double kReportableTail = 10;

/// Binary places dropped by a value: 0 below 256, then one more an octave.
unsigned shift_of_value(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  return width <= kBits + 1 ? 0 : width - (kBits + 1);
}

std::size_t index_of(std::uint64_t value) {
  const std::uint64_t inside = std::min(value, kLargest);
  const unsigned shift = shift_of_value(inside);
  return static_cast<std::size_t>((std::uint64_t{shift} << kBits) + (inside >> shift));
}

std::uint64_t lowest_of(std::size_t index) {
  const std::size_t octave = index >> kBits;
  if (octave < 2) {
    return index;
  }
  const auto shift = static_cast<unsigned>(octave - 1) & 63U;  // at most 55 for a valid index
  return (std::uint64_t{index} - (std::uint64_t{shift} << kBits)) << shift;
}

/// The part of a bucket that values can lie in, given the exact extremes.
struct Range {
  std::uint64_t low;
  std::uint64_t high;
};

Range occupied(std::uint64_t lowest, std::uint64_t min, std::uint64_t max) {
  const std::uint64_t highest = lowest + Histogram::bucket_width(lowest) - 1;
  return {std::max(lowest, min), std::max(std::max(lowest, min), std::min(highest, max))};
}

/// ceil(q·n) in 1 … n, forgiving the rounding of q·n.
std::uint64_t rank_of(double q, std::uint64_t n) {
  const double exact = std::clamp(q, 0.0, 1.0) * static_cast<double>(n);
  const double rank = std::ceil(exact * (1 - 1e-15));
  if (!(rank >= 1)) {
    return 1;
  }
  return rank >= static_cast<double>(n) ? n : static_cast<std::uint64_t>(rank);
}

/// Why (lowest, times) cannot follow `previous` in an export; empty when it can.
std::string bucket_fault(std::uint64_t lowest, std::uint64_t times, const std::uint64_t* previous) {
  if (lowest != Histogram::bucket_lowest(lowest)) {
    return fmt::format("{} is not the start of a bucket", lowest);
  }
  if (times == 0) {
    return fmt::format("the bucket at {} has count 0", lowest);
  }
  if (previous != nullptr && *previous >= lowest) {
    return fmt::format("the bucket at {} does not follow {}", lowest, *previous);
  }
  return {};
}

std::string extremes_fault(const SparseBuckets& buckets, std::uint64_t min, std::uint64_t max) {
  const bool fits = buckets.empty()
                        ? min == 0 && max == 0
                        : min <= max && Histogram::bucket_lowest(min) == buckets.front().first &&
                              Histogram::bucket_lowest(max) == buckets.back().first;
  return fits ? std::string{}
              : fmt::format("min {} and max {} do not lie in the first and last bucket", min, max);
}

tl::unexpected<Error> bad_histogram(const std::string& why) {
  return fail("bad-histogram", "cannot read a histogram: " + why,
              "the document was altered or cut; measure again or use an intact copy");
}

}  // namespace

void Histogram::record(std::uint64_t value_ns, std::uint64_t times) noexcept {
  if (times == 0) {
    return;
  }
  counts_[index_of(value_ns)] += times;
  count_ += times;
  min_ = std::min(min_, value_ns);
  max_ = std::max(max_, value_ns);
  sum_ += static_cast<Sum>(value_ns) * times;
}

void Histogram::merge(const Histogram& other) noexcept {
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 [](std::uint64_t a, std::uint64_t b) { return a + b; });
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::sum() const noexcept { return static_cast<double>(sum_); }

double Histogram::mean() const noexcept {
  return count_ == 0 ? 0.0 : sum() / static_cast<double>(count_);
}

std::uint64_t Histogram::quantile(double q) const noexcept {
  const std::uint64_t rank = rank_of(q, count_);
  if (count_ == 0 || rank == count_) {
    return max_;
  }
  if (rank == 1) {
    return min_;
  }
  std::size_t index = 0;
  std::uint64_t below = 0;
  while (below + counts_[index] < rank) {
    below += counts_[index++];
  }
  const Range range = occupied(lowest_of(index), min_, max_);
  const double share =
      (static_cast<double>(rank - below) - 0.5) / static_cast<double>(counts_[index]);
  return range.low + static_cast<std::uint64_t>(
                         std::llround(static_cast<double>(range.high - range.low) * share));
}

std::optional<std::uint64_t> Histogram::reportable_quantile(double q) const noexcept {
  return is_reportable(q, count_) ? std::optional(quantile(q)) : std::nullopt;
}

SparseBuckets Histogram::sparse() const {
  SparseBuckets buckets;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) {
      buckets.emplace_back(lowest_of(i), counts_[i]);
    }
  }
  return buckets;
}

Result<Histogram> Histogram::from_sparse(const SparseBuckets& buckets, std::uint64_t min_ns,
                                         std::uint64_t max_ns) {
  if (const auto fault = extremes_fault(buckets, min_ns, max_ns); !fault.empty()) {
    return bad_histogram(fault);
  }
  Histogram histogram;
  const std::uint64_t* previous = nullptr;
  for (const auto& [lowest, times] : buckets) {
    if (const auto fault = bucket_fault(lowest, times, previous); !fault.empty()) {
      return bad_histogram(fault);
    }
    if (times > kLargest - histogram.count_) {
      return bad_histogram("the counts add up to more than 2^63");
    }
    const Range range = occupied(lowest, min_ns, max_ns);
    histogram.record(range.low + (range.high - range.low) / 2, times);
    previous = &lowest;
  }
  if (!buckets.empty()) {
    histogram.min_ = min_ns;
    histogram.max_ = max_ns;
  }
  return histogram;
}

std::uint64_t Histogram::bucket_lowest(std::uint64_t value_ns) noexcept {
  return lowest_of(index_of(value_ns));
}

std::uint64_t Histogram::bucket_width(std::uint64_t value_ns) noexcept {
  return std::uint64_t{1} << shift_of_value(std::min(value_ns, kLargest));
}

bool is_reportable(double q, std::uint64_t n) noexcept {
  return q < 1 && static_cast<double>(n) * (1 - std::max(q, 0.0)) >= kReportableTail - 1e-6;
}

}  // namespace netbench::stats
