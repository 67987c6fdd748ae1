#include "bench/stats/modes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "bench/stats/rng.hpp"
#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

/// Two log-normal humps; the second at `factor` times the first, with weight `weight`.
std::vector<double> two_humps(std::uint64_t seed, std::size_t n, double weight, double factor,
                              double sigma) {
  Rng rng(seed);
  std::vector<double> values(n);
  for (double& value : values) {
    const double centre = rng.uniform() < weight ? 10'000 * factor : 10'000;
    value = centre * std::exp(sigma * rng.normal());
  }
  return values;
}

Histogram histogram_of(const std::vector<double>& values) {
  Histogram histogram;
  for (const double value : values) {
    histogram.record(static_cast<std::uint64_t>(value));
  }
  return histogram;
}

/// How many of `trials` series are called multimodal, as values or as a histogram.
std::size_t alarms(std::size_t trials,
                   const std::function<std::vector<double>(std::uint64_t)>& make) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    const std::vector<double> values = make(100 + i);
    count += detect_modes(values).multimodal() || detect_modes(histogram_of(values)).multimodal();
  }
  return count;
}

TEST(Modes, NeverSeesTwoInALogNormal) {
  for (const double sigma : {0.01, 0.1, 1.0}) {
    EXPECT_EQ(alarms(200, [&](auto seed) { return two_humps(seed, 2'000, 0, 1, sigma); }), 0U)
        << sigma;
  }
}

TEST(Modes, NeverSeesTwoInAFewSamples) {
  EXPECT_EQ(alarms(500, [](auto seed) { return two_humps(seed, 320, 0, 1, 0.2); }), 0U);
}

TEST(Modes, NeverSeesTwoInAutocorrelatedSamples) {
  for (const double phi : {0.8, 0.95}) {
    EXPECT_EQ(alarms(300, [&](auto seed) { return testing::LatencyModel(seed, phi).take(1'000); }),
              0U)
        << phi;
  }
}

TEST(Modes, NeverSeesTwoInAHeavyTail) {
  const auto pareto = [](std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> values(2'000);
    for (double& value : values) {
      value = 1'000 / std::pow(1 - rng.uniform(), 1 / 1.2);
    }
    return values;
  };
  EXPECT_EQ(alarms(200, pareto), 0U);
}

TEST(Modes, FindsTwoSeparatedHumpsAndTheirWeights) {
  for (const double weight : {0.15, 0.5, 0.85}) {
    const Modes modes = detect_modes(two_humps(7, 5'000, weight, 1.5, 0.03));
    ASSERT_EQ(modes.modes.size(), 2U) << weight;
    EXPECT_NEAR(modes.modes[0].location, 10'000, 400);
    EXPECT_NEAR(modes.modes[1].location, 15'000, 600);
    EXPECT_NEAR(modes.modes[1].weight, weight, 0.03);
  }
}

TEST(Modes, FindsTwoHumpsInAHistogram) {
  const auto found = alarms(100, [](auto seed) { return two_humps(seed, 3'000, 0.2, 1.3, 0.03); });
  EXPECT_EQ(found, 100U);
  EXPECT_TRUE(detect_modes(histogram_of(two_humps(8, 3'000, 0.2, 1.3, 0.03))).multimodal());
}

TEST(Modes, FindsThreeHumps) {
  std::vector<double> values = two_humps(9, 3'000, 0.5, 2, 0.03);
  const std::vector<double> third = two_humps(10, 1'500, 1, 5, 0.03);
  values.insert(values.end(), third.begin(), third.end());
  EXPECT_EQ(detect_modes(values).modes.size(), 3U);
}

TEST(Modes, NeverSeesTwoInTheTicksOfACoarseClock) {
  const auto ticks = [](std::uint64_t seed) {
    std::vector<double> values = two_humps(seed, 2'000, 0, 1, 0.05);
    for (double& value : values) {
      value = 40 * std::round(value / 10 / 40);  // 1 us in steps of 40 ns
    }
    return values;
  };
  EXPECT_EQ(alarms(200, ticks), 0U);
}

TEST(Modes, LeavesAHumpBelowTenPercentAlone) {
  EXPECT_FALSE(detect_modes(two_humps(11, 5'000, 0.05, 3, 0.03)).multimodal());
}

TEST(Modes, AnswersSimplyForConstantFewAndNoValues) {
  EXPECT_TRUE(detect_modes(Histogram{}).modes.empty());
  EXPECT_EQ(detect_modes(std::vector<double>(500, 42.0)).modes.size(), 1U);
  EXPECT_EQ(detect_modes(std::vector<double>{1, 1, 1, 900, 900, 900}).modes.size(), 1U);
  EXPECT_TRUE(detect_modes(std::vector<double>{0, -3}).modes.empty());
}

}  // namespace
}  // namespace netbench::stats
