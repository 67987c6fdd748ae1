#include "bench/stats/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

std::size_t covered(double phi, std::size_t trials) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    testing::LatencyModel model(70 + i, phi);
    const Estimate estimate = bootstrap_quantile(model.take(1'024), 0.5, {.resamples = 300});
    count += estimate.low <= model.true_median() && model.true_median() <= estimate.high;
  }
  return count;
}

TEST(Bootstrap, CoversTheMedianWithAndWithoutAutocorrelation) {
  constexpr std::size_t kTrials = 300;
  EXPECT_NEAR(testing::share(covered(0.0, kTrials), kTrials), 0.94, 0.04);
  EXPECT_NEAR(testing::share(covered(0.8, kTrials), kTrials), 0.93, 0.05);
}

TEST(Bootstrap, RepeatsItselfForASeed) {
  const std::vector<double> samples = testing::LatencyModel(1, 0).take(2'000);
  const Estimate a = bootstrap_quantile(samples, 0.9);
  const Estimate b = bootstrap_quantile(samples, 0.9);
  EXPECT_DOUBLE_EQ(a.low, b.low);
  EXPECT_DOUBLE_EQ(a.high, b.high);
  EXPECT_LT(a.low, a.value);
  EXPECT_GT(a.high, a.value);
}

TEST(Bootstrap, TakesTheOrderStatisticFromEitherEnd) {
  std::vector<double> samples(1'000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[(i * 7) % samples.size()] = static_cast<double>(i + 1);
  }
  EXPECT_DOUBLE_EQ(bootstrap_quantile(samples, 0.1).value, 100);
  EXPECT_DOUBLE_EQ(bootstrap_quantile(samples, 0.5).value, 500);
  EXPECT_DOUBLE_EQ(bootstrap_quantile(samples, 0.9).value, 900);
}

TEST(Bootstrap, GivesNoIntervalWhereTheTailIsTooThin) {
  const std::vector<double> samples = testing::LatencyModel(2, 0).take(9'999);
  EXPECT_FALSE(bootstrap_quantile(samples, 0.999).has_interval);
  EXPECT_TRUE(bootstrap_quantile(samples, 0.99).has_interval);
  EXPECT_FALSE(bootstrap_quantile(std::vector<double>(10, 1.0), 0.5).has_interval);
  EXPECT_FALSE(bootstrap_quantile({}, 0.5).has_interval);
}

TEST(Bootstrap, IsCheapForATailOfManySamples) {
  const std::vector<double> samples = testing::LatencyModel(3, 0.5).take(300'000);
  const Estimate p999 = bootstrap_quantile(samples, 0.999);
  EXPECT_TRUE(p999.has_interval);
  EXPECT_GT(p999.value, 9 * testing::LatencyModel::kBodyMedianNs);
  EXPECT_LT(p999.relative_half_width(), 0.05);
}

}  // namespace
}  // namespace netbench::stats
