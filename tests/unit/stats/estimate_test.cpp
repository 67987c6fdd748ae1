#include "bench/stats/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bench/stats/quantile.hpp"
#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

TEST(MedianOfRounds, TakesStudentsIntervalOnLogarithms) {
  const std::vector<double> rounds{std::exp(1.0), std::exp(1.1), std::exp(0.9)};
  const Estimate estimate = median_of_rounds(rounds);
  EXPECT_DOUBLE_EQ(estimate.value, std::exp(1.0));
  const double half = 4.302653 * 0.1 / std::sqrt(3.0);  // t(0.975, 2) · s / √n
  EXPECT_NEAR(estimate.low, std::exp(1 - half), 1e-6);
  EXPECT_NEAR(estimate.high, std::exp(1 + half), 1e-6);
  EXPECT_EQ(estimate.n, 3);
  EXPECT_TRUE(estimate.has_interval);
}

TEST(MedianOfRounds, HasNoIntervalForOneRound) {
  const Estimate estimate = median_of_rounds(std::vector<double>{5});
  EXPECT_FALSE(estimate.has_interval);
  EXPECT_DOUBLE_EQ(estimate.low, 5);
  EXPECT_DOUBLE_EQ(estimate.high, 5);
  EXPECT_DOUBLE_EQ(estimate.relative_half_width(), 0);
}

TEST(MedianOfRounds, StaysFiniteWithoutRoundsAndWithZeroRates) {
  EXPECT_FALSE(median_of_rounds({}).has_interval);
  const Estimate stalled = median_of_rounds(std::vector<double>{0, 0, 1e9});
  EXPECT_DOUBLE_EQ(stalled.value, 0);
  EXPECT_TRUE(std::isfinite(stalled.low));
  EXPECT_TRUE(std::isfinite(stalled.high));
  EXPECT_DOUBLE_EQ(stalled.relative_half_width(), 0);
}

TEST(MedianOfRounds, HoldsTheMedianEvenWhereTheMeanIsFarFromIt) {
  const std::vector<double> rounds{1, 1, 1, 1, 1, 3, 3, 3, 3};
  const Estimate estimate = median_of_rounds(rounds);
  EXPECT_DOUBLE_EQ(estimate.value, 1);
  EXPECT_LE(estimate.low, 1);
  EXPECT_GT(estimate.high, 1);
}

TEST(MedianOfRounds, CoversTheTruthAtItsLevel) {
  constexpr std::size_t kTrials = 4'000;
  Rng rng(3);
  std::size_t covered = 0;
  for (std::size_t i = 0; i < kTrials; ++i) {
    std::vector<double> rounds(5);
    for (double& round : rounds) {
      round = std::exp(0.02 * rng.normal());
    }
    const Estimate estimate = median_of_rounds(rounds);
    covered += estimate.low <= 1 && 1 <= estimate.high ? 1U : 0U;
  }
  EXPECT_NEAR(testing::share(covered, kTrials), 0.95, 0.015);
}

TEST(SuperbatchMedians, CoverAllSamplesInOrder) {
  std::vector<double> samples(45);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<double>(i);
  }
  const auto medians = superbatch_medians(samples, 20);
  ASSERT_EQ(medians.size(), 20U);
  EXPECT_DOUBLE_EQ(medians.front(), 0.5);
  EXPECT_DOUBLE_EQ(medians.back(), 43);
  EXPECT_EQ(superbatch_medians(std::vector<double>{1, 2, 3}).size(), 3U);
  EXPECT_TRUE(superbatch_medians({}).empty());
}

TEST(SuperbatchInterval, IsNarrowForConstantSamplesAndAbsentForOne) {
  const Estimate constant = superbatch_interval(std::vector<double>(1'000, 7.0));
  EXPECT_TRUE(constant.has_interval);
  EXPECT_DOUBLE_EQ(constant.low, 7);
  EXPECT_DOUBLE_EQ(constant.high, 7);
  EXPECT_EQ(constant.n, 1'000);
  EXPECT_FALSE(superbatch_interval(std::vector<double>{7.0}).has_interval);
}

TEST(SuperbatchInterval, CoversTheMedianUnderAutocorrelation) {
  constexpr std::size_t kTrials = 1'000;
  for (const double phi : {0.0, 0.8}) {
    std::size_t covered = 0;
    for (std::size_t i = 0; i < kTrials; ++i) {
      testing::LatencyModel model(1'000 + i, phi);
      const Estimate estimate = superbatch_interval(model.take(2'560));
      covered += estimate.low <= model.true_median() && model.true_median() <= estimate.high;
    }
    EXPECT_GE(testing::share(covered, kTrials), 0.93) << "phi " << phi;
    EXPECT_LE(testing::share(covered, kTrials), 0.99) << "phi " << phi;
  }
}

TEST(Lag1, MatchesTheModelAndIsZeroForConstants) {
  Rng rng(4);
  std::vector<double> series(20'000);
  double state = 0;
  for (double& value : series) {
    state = 0.8 * state + rng.normal();
    value = state;
  }
  EXPECT_NEAR(lag1_autocorrelation(series), 0.8, 0.02);
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(std::vector<double>(30, 2.0)), 0);
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(std::vector<double>{1, 2}), 0);
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(std::vector<double>{1, -1, 1, -1}), -0.75);
}

}  // namespace
}  // namespace netbench::stats
