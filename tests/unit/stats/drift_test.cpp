#include "bench/stats/drift.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "bench/stats/rng.hpp"
#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

std::vector<double> series(std::uint64_t seed, std::size_t n, double rise, double phi = 0,
                           double deviation = 0.02) {
  Rng rng(seed);
  std::vector<double> values(n);
  double state = rng.normal();
  for (std::size_t i = 0; i < n; ++i) {
    state = phi * state + std::sqrt(1 - phi * phi) * rng.normal();
    values[i] = 1'000 * (1 + rise * static_cast<double>(i) / static_cast<double>(n - 1) +
                         deviation * state);
  }
  return values;
}

std::size_t alarms(std::size_t trials, std::size_t n, double rise, double phi) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    count += detect_drift(series(900 + i, n, rise, phi)).drifting ? 1U : 0U;
  }
  return count;
}

TEST(Drift, FindsASlowRiseAndItsSize) {
  const Drift drift = detect_drift(series(1, 200, 0.05));
  EXPECT_TRUE(drift.drifting);
  EXPECT_NEAR(drift.total_relative, 0.05, 0.01);
  EXPECT_LT(drift.p_value, 0.001);
}

TEST(Drift, FindsAFallToo) {
  const Drift drift = detect_drift(series(2, 200, -0.05));
  EXPECT_TRUE(drift.drifting);
  EXPECT_LT(drift.total_relative, -0.03);
}

TEST(Drift, RarelyRaisesAFalseAlarm) {
  EXPECT_LE(alarms(500, 60, 0, 0.0), 10U);
  EXPECT_LE(alarms(500, 60, 0, 0.6), 25U);
}

TEST(Drift, FindsFivePercentAlmostAlways) { EXPECT_GE(alarms(200, 100, 0.05, 0.0), 195U); }

TEST(Drift, IgnoresASureButTinyTrend) {
  const Drift drift = detect_drift(series(3, 500, 0.01, 0, 0.0005));
  EXPECT_LT(drift.p_value, 0.001);
  EXPECT_FALSE(drift.drifting);
}

TEST(Drift, BoundsItsWorkOnLongSeries) {
  const Drift drift = detect_drift(series(4, 1'000'000, 0.05));
  EXPECT_TRUE(drift.drifting);
  EXPECT_NEAR(drift.total_relative, 0.05, 0.003);
}

TEST(Drift, HasNoneInShortConstantOrZeroSeries) {
  EXPECT_FALSE(detect_drift({}).drifting);
  EXPECT_FALSE(detect_drift(std::vector<double>{1, 2, 3, 4, 5, 6, 7}).drifting);
  EXPECT_DOUBLE_EQ(detect_drift(std::vector<double>(50, 4.0)).p_value, 1);
  EXPECT_FALSE(detect_drift(std::vector<double>(50, 0.0)).drifting);
}

}  // namespace
}  // namespace netbench::stats
