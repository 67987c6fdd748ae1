#include "bench/stats/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/stats/rng.hpp"

namespace netbench::stats {
namespace {

constexpr std::uint64_t kHundredSeconds = 100'000'000'000;
constexpr std::array kProbes{0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0};

std::vector<std::uint64_t> wide_values(std::uint64_t seed, std::size_t n) {
  Rng rng(seed);
  std::vector<std::uint64_t> values(n);
  for (auto& value : values) {
    value = static_cast<std::uint64_t>(std::exp(25 * rng.uniform()));
  }
  return values;
}

Histogram of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const auto value : values) {
    histogram.record(value);
  }
  return histogram;
}

TEST(Histogram, StaysWithinSixtyFourKibibytes) {
  EXPECT_LE(Histogram::kBuckets * sizeof(std::uint64_t), 64U * 1024U);
}

TEST(Histogram, AnswersZeroEverywhereWhenEmpty) {
  const Histogram empty;
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.min(), 0U);
  EXPECT_EQ(empty.max(), 0U);
  EXPECT_EQ(empty.quantile(0.5), 0U);
  EXPECT_EQ(empty.mean(), 0.0);
  EXPECT_TRUE(empty.sparse().empty());
  EXPECT_FALSE(empty.reportable_quantile(0.5).has_value());
}

TEST(Histogram, KeepsEveryValueBelow256Exactly) {
  for (std::uint64_t value = 0; value < 256; ++value) {
    EXPECT_EQ(Histogram::bucket_lowest(value), value);
    EXPECT_EQ(Histogram::bucket_width(value), 1U);
  }
}

TEST(Histogram, HasBucketsThatHoldTheirValueAndAreAtMostOnePercentWide) {
  for (const std::uint64_t value : wide_values(1, 20'000)) {
    const auto lowest = Histogram::bucket_lowest(value);
    const auto width = Histogram::bucket_width(value);
    ASSERT_LE(lowest, value);
    ASSERT_LT(value - lowest, width);
    ASSERT_EQ(Histogram::bucket_lowest(lowest + width - 1), lowest);
    ASSERT_EQ(Histogram::bucket_lowest(lowest + width), lowest + width);
    ASSERT_LE(static_cast<double>(width - 1), 0.01 * static_cast<double>(std::max(lowest, width)));
  }
}

TEST(Histogram, AgreesWithSortedValuesWithinOnePercent) {
  auto values = wide_values(2, 50'000);
  const Histogram histogram = of(values);
  std::sort(values.begin(), values.end());
  for (const double q : kProbes) {
    const auto rank = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q)), exact, 0.01 * exact) << "q=" << q;
  }
}

TEST(Histogram, CountsThreeBillionSamplesFromZeroToAHundredSeconds) {
  Histogram histogram;
  histogram.record(0, 1'000'000'000);
  histogram.record(18'400, 1'400'000'000);
  histogram.record(1'000'000, 599'000'000);
  histogram.record(kHundredSeconds, 1'000'000);
  EXPECT_EQ(histogram.count(), 3'000'000'000U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), kHundredSeconds);
  EXPECT_EQ(histogram.quantile(1), kHundredSeconds);
  EXPECT_EQ(histogram.quantile(0), 0U);
  EXPECT_EQ(histogram.quantile(0.3), 0U);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), 18'400, 184);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.9)), 1e6, 1e4);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.9999)), 1e11, 1e9);
  const double exact_sum = 1.4e9 * 18'400 + 5.99e8 * 1e6 + 1e6 * 1e11;
  EXPECT_NEAR(histogram.mean(), exact_sum / 3e9, 1e-6 * exact_sum / 3e9);
}

TEST(Histogram, HoldsASumThatPassesTwoToTheSixtyFour) {
  Histogram histogram;
  histogram.record(kHundredSeconds, 3'000'000'000);
  EXPECT_DOUBLE_EQ(histogram.sum(), 3e20);
  EXPECT_DOUBLE_EQ(histogram.mean(), 1e11);
}

TEST(Histogram, NeverAnswersNaNOrLeavesTheRange) {
  const Histogram histogram = of(wide_values(3, 1'000));
  for (const double q : {-1.0, 2.0, std::nan(""), 0.5, 1e-300}) {
    EXPECT_GE(histogram.quantile(q), histogram.min());
    EXPECT_LE(histogram.quantile(q), histogram.max());
  }
  EXPECT_TRUE(std::isfinite(histogram.mean()));
}

TEST(Histogram, HasQuantilesThatNeverFallAsQRises) {
  const Histogram histogram = of(wide_values(4, 3'000));
  std::uint64_t previous = 0;
  for (int i = 0; i <= 10'000; ++i) {
    const auto value = histogram.quantile(i / 10'000.0);
    ASSERT_GE(value, previous);
    previous = value;
  }
}

TEST(Histogram, InterpolatesInsideABucketSoThatMediansAreNotQuantised) {
  Histogram histogram;
  for (std::uint64_t value = 1'000'000; value < 1'004'000; ++value) {
    histogram.record(value);
  }
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), 1'002'000, 300);
}

TEST(Histogram, PutsValuesAboveTheRangeInTheLastBucketAndKeepsTheirMax) {
  Histogram histogram;
  histogram.record(UINT64_MAX, 3);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.quantile(1), UINT64_MAX);
  EXPECT_EQ(histogram.sparse().front().first,
            Histogram::bucket_lowest((std::uint64_t{1} << 63) - 1));
}

TEST(Histogram, MergesAssociativelyAndCommutatively) {
  const Histogram a = of(wide_values(5, 1'000));
  const Histogram b = of(wide_values(6, 2'000));
  const Histogram c = of({0, kHundredSeconds, UINT64_MAX});
  Histogram left = a;
  left.merge(b);
  left.merge(c);
  Histogram right = c;
  Histogram inner = b;
  inner.merge(a);
  right.merge(inner);
  EXPECT_EQ(left, right);
  EXPECT_EQ(left.count(), 3'003U);
}

TEST(Histogram, MergesToWhatRecordingEverythingGives) {
  auto values = wide_values(7, 1'000);
  const auto more = wide_values(8, 1'000);
  Histogram merged = of(values);
  merged.merge(of(more));
  merged.merge(Histogram{});
  values.insert(values.end(), more.begin(), more.end());
  EXPECT_EQ(merged, of(values));
}

TEST(Histogram, ReportsAQuantileOnlyWithTenValuesBeyondIt) {
  Histogram histogram;
  histogram.record(1'000, 9'999);
  EXPECT_FALSE(histogram.reportable_quantile(0.999).has_value());
  EXPECT_TRUE(histogram.reportable_quantile(0.99).has_value());
  histogram.record(1'000);
  EXPECT_TRUE(histogram.reportable_quantile(0.999).has_value());
  EXPECT_FALSE(histogram.reportable_quantile(1.0).has_value());
}

TEST(Histogram, SurvivesTheExportAndImport) {
  const Histogram original = of(wide_values(9, 5'000));
  const auto copy = Histogram::from_sparse(original.sparse(), original.min(), original.max());
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->count(), original.count());
  EXPECT_EQ(copy->sparse(), original.sparse());
  for (const double q : kProbes) {
    EXPECT_EQ(copy->quantile(q), original.quantile(q)) << "q=" << q;
  }
  EXPECT_NEAR(copy->mean(), original.mean(), 0.005 * original.mean());
}

TEST(Histogram, ImportsAnEmptyExport) {
  const auto empty = Histogram::from_sparse({}, 0, 0);
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(*empty, Histogram{});
}

TEST(Histogram, RefusesDamagedExports) {
  struct Damage {
    SparseBuckets buckets;
    std::uint64_t min;
    std::uint64_t max;
  };
  const std::vector<Damage> damages{{{}, 0, 1},                    // extremes without values
                                    {{{257, 1}}, 257, 257},        // not the start of a bucket
                                    {{{10, 0}}, 10, 10},           // empty bucket
                                    {{{20, 1}, {10, 1}}, 20, 10},  // not ascending
                                    {{{10, 1}, {10, 1}}, 10, 10},  // twice
                                    {{{10, 1}}, 11, 11},           // extremes elsewhere
                                    {{{10, UINT64_MAX}}, 10, 10},  // too many
                                    {{{10, 1}, {20, UINT64_MAX - 5}}, 10, 20}};  // the sum wraps
  for (const auto& damage : damages) {
    const auto result = Histogram::from_sparse(damage.buckets, damage.min, damage.max);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().slug, "bad-histogram");
    EXPECT_FALSE(result.error().remedy.empty());
  }
}

}  // namespace
}  // namespace netbench::stats
