#include "bench/stats/warmup.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "bench/stats/rng.hpp"

namespace netbench::stats {
namespace {

std::vector<double> noise(std::uint64_t seed, std::size_t n, double level, double deviation) {
  Rng rng(seed);
  std::vector<double> values(n);
  for (double& value : values) {
    value = level + deviation * rng.normal();
  }
  return values;
}

/// `gain` cycles as BBR's ProbeBW: 1.25, 0.75, then six times 1, each `hold` values long.
std::vector<double> bbr_cycles(std::size_t n, std::size_t hold) {
  std::vector<double> rates = noise(21, n, 1.0, 0.01);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t phase = i / hold % 8;
    rates[i] *= phase == 0 ? 1.25 : (phase == 1 ? 0.75 : 1.0);
  }
  return rates;
}

TEST(Mser, CutsASlowStartAndLittleMore) {
  std::vector<double> medians = noise(1, 400, 100, 2);
  for (std::size_t i = 0; i < 60; ++i) {
    medians[i] += 100 * std::exp(-static_cast<double>(i) / 15);
  }
  const Truncation truncation = mser_truncation(medians);
  EXPECT_GE(truncation.cut, 30U);
  EXPECT_LE(truncation.cut, 90U);
  EXPECT_FALSE(truncation.reached_cap);
}

TEST(Mser, CutsLittleOfASteadySeries) {
  double cut = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Truncation truncation = mser_truncation(noise(seed, 200, 100, 5));
    EXPECT_FALSE(truncation.reached_cap) << seed;
    cut += static_cast<double>(truncation.cut) / 200 / 100;
  }
  EXPECT_LT(cut, 0.15);
}

TEST(Mser, ReachesTheCapWhereNothingSettles) {
  std::vector<double> rising(100);
  for (std::size_t i = 0; i < rising.size(); ++i) {
    rising[i] = static_cast<double>(i);
  }
  const Truncation truncation = mser_truncation(rising);
  EXPECT_TRUE(truncation.reached_cap);
  EXPECT_LE(truncation.cut, 50U);
}

TEST(Mser, LeavesConstantAndShortSeriesAlone) {
  EXPECT_EQ(mser_truncation(std::vector<double>(50, 3.0)).cut, 0U);
  EXPECT_EQ(mser_truncation(std::vector<double>{9, 1, 1, 1}).cut, 0U);
  EXPECT_EQ(mser_truncation({}).cut, 0U);
}

TEST(Plateau, CutsARampOfSlowStart) {
  std::vector<double> rates = noise(2, 200, 100, 1);
  for (std::size_t i = 0; i < 30; ++i) {
    rates[i] *= static_cast<double>(i) / 30;
  }
  const Truncation plateau = plateau_start(rates);
  EXPECT_GE(plateau.cut, 27U);
  EXPECT_LE(plateau.cut, 34U);
  EXPECT_FALSE(plateau.reached_cap);
}

TEST(Plateau, CutsTheBurstOfATokenBucket) {
  std::vector<double> rates = noise(3, 100, 100, 0.5);
  for (std::size_t i = 0; i < 7; ++i) {
    rates[i] = 900;
  }
  EXPECT_EQ(plateau_start(rates).cut / 3, 7U / 3U);
  EXPECT_GE(plateau_start(rates).cut, 7U);
}

TEST(Plateau, IsNotCutByBbrsGainCycles) {
  for (const std::size_t hold : {1U, 2U, 5U}) {
    std::vector<double> rates = bbr_cycles(160, hold);
    EXPECT_LE(plateau_start(rates).cut, 8 * hold) << "hold " << hold;
    for (std::size_t i = 0; i < 20; ++i) {
      rates[i] *= 0.02 * static_cast<double>(i + 1);
    }
    const Truncation plateau = plateau_start(rates);
    EXPECT_FALSE(plateau.reached_cap);
    EXPECT_GE(plateau.cut, 10U) << "hold " << hold;
    EXPECT_LE(plateau.cut, 20U + 8U * hold) << "hold " << hold;
  }
}

TEST(Plateau, IsNotMovedByASingleStall) {
  std::vector<double> rates = noise(4, 100, 100, 1);
  rates[40] = 0;
  EXPECT_LE(plateau_start(rates).cut, 5U);
}

TEST(Plateau, IsNotFoundWhereTheRateRisesAllTheTime) {
  std::vector<double> rates(100);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    rates[i] = static_cast<double>(i);
  }
  const Truncation plateau = plateau_start(rates);
  EXPECT_TRUE(plateau.reached_cap);
  EXPECT_EQ(plateau.cut, 50U);
}

TEST(Plateau, HandlesShortAndIdleSeries) {
  EXPECT_EQ(plateau_start({}).cut, 0U);
  EXPECT_EQ(plateau_start(std::vector<double>{1, 9, 9}).cut, 0U);
  EXPECT_EQ(plateau_start(std::vector<double>{1, 9, 9, 9}).cut, 1U);
  EXPECT_EQ(plateau_start(std::vector<double>(10, 0.0)).cut, 0U);
}

}  // namespace
}  // namespace netbench::stats
