#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "transports/sim/model.hpp"

namespace netbench::sim {
namespace {

Parameters quiet() {
  return {
      .rtt_ns = 20'000, .rate_bps = 10e9, .byte_cost_ns = 1e-6, .message_cost_ns = 1, .ramp_ns = 1};
}

std::vector<double> round_trips(Model& model, int count) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    samples.push_back(model.round_trip_ns(1));
  }
  return samples;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - center) * (value - center);
  }
  return sum / static_cast<double>(values.size() - 1);
}

double lag_one(const std::vector<double>& values) {
  const double center = mean(values);
  double sum = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    sum += (values[i] - center) * (values[i - 1] - center);
  }
  return sum / static_cast<double>(values.size() - 1) / variance(values);
}

TEST(SimModel, IsTheSameForTheSameSeedAndStream) {
  Parameters p = quiet();
  p.jitter = 0.1;
  Model a(p, 1, 0);
  Model b(p, 1, 0);
  Model c(p, 1, 1);
  const auto samples = round_trips(a, 100);
  EXPECT_EQ(samples, round_trips(b, 100));
  EXPECT_NE(samples, round_trips(c, 100));
}

TEST(SimModel, AQuietPathHasItsRoundTripAndItsRate) {
  Model model(quiet(), 1, 0);
  round_trips(model, 1);
  EXPECT_NEAR(model.round_trip_ns(1), 20'000, 10);
  EXPECT_NEAR(static_cast<double>(model.window_bytes(1e9, 131072)) * 8, 10e9, 10e9 * 1e-4);
}

TEST(SimModel, JitterIsTheDeviationOfTheLogarithm) {
  Parameters p = quiet();
  p.jitter = 0.2;
  Model model(p, 3, 0);
  auto samples = round_trips(model, 20'000);
  std::ranges::transform(samples, samples.begin(), [](double v) { return std::log(v); });
  EXPECT_NEAR(std::sqrt(variance(samples)), 0.2, 0.01);
}

TEST(SimModel, PhiIsTheCorrelationOfNeighbours) {
  Parameters p = quiet();
  p.jitter = 0.05;
  p.phi = 0.8;
  Model model(p, 4, 0);
  EXPECT_NEAR(lag_one(round_trips(model, 20'000)), 0.8, 0.03);
}

TEST(SimModel, RoundsVaryByTheirDeviation) {
  Parameters p = quiet();
  p.round_sd = 0.1;
  std::vector<double> levels;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Model model(p, seed, 0);
    round_trips(model, 1);
    levels.push_back(std::log(model.round_trip_ns(1)));
  }
  EXPECT_NEAR(std::sqrt(variance(levels)), 0.1, 0.01);
}

TEST(SimModel, BothEndsShareTheLevelOfTheRound) {
  Parameters p = quiet();
  p.round_sd = 0.3;
  Model initiator(p, 5, 0);
  Model responder(p, 5, 1);
  round_trips(initiator, 1);
  round_trips(responder, 1);
  EXPECT_DOUBLE_EQ(initiator.round_trip_ns(1), responder.round_trip_ns(1));
}

TEST(SimModel, SecondModeHasItsShareAndDistance) {
  Parameters p = quiet();
  p.second_share = 0.3;
  p.second_distance = 0.5;
  Model model(p, 6, 0);
  round_trips(model, 1);
  const auto samples = round_trips(model, 10'000);
  const auto slow = std::ranges::count_if(samples, [](double v) { return v > 25'000; });
  EXPECT_NEAR(static_cast<double>(slow) / 10'000, 0.3, 0.02);
  EXPECT_NEAR(*std::ranges::max_element(samples), 30'000, 100);
}

TEST(SimModel, DriftSlowsDownPerSecond) {
  Parameters p = quiet();
  p.drift_per_s = 0.1;
  Model model(p, 7, 0);
  const auto early = static_cast<double>(model.window_bytes(1e6, 1e6));
  static_cast<void>(model.window_bytes(10e9, 1e6));
  const auto late = static_cast<double>(model.window_bytes(1e6, 1e6));
  EXPECT_NEAR(early / late, 2.0, 0.02);
}

TEST(SimModel, LossLimitsTheRateAsMathisFound) {
  Parameters p = quiet();
  p.rtt_ns = 10e6;
  p.loss = 0.01;
  Model model(p, 8, 0);
  const double rate_bps = static_cast<double>(model.window_bytes(10e9, 1e6)) * 8 / 10;
  EXPECT_NEAR(rate_bps, 1448 * 8 / 10e-3 * std::sqrt(1.5 / 0.01), rate_bps * 1e-3);
}

TEST(SimModel, TheRampStartsSlowAndEnds) {
  Parameters p = quiet();
  p.ramp_ns = 100e6;
  Model model(p, 9, 0);
  const auto first = static_cast<double>(model.window_bytes(10e6, 1e6));
  static_cast<void>(model.window_bytes(2e9, 1e6));
  const auto last = static_cast<double>(model.window_bytes(10e6, 1e6));
  EXPECT_LT(first, 0.1 * last);
  EXPECT_NEAR(last * 8, 10e9 * 0.01, 1e5);
}

TEST(SimModel, WindowsLoseNoFractionOfAByte) {
  Parameters p = quiet();
  p.rate_bps = 1e6;
  Model model(p, 10, 0);
  std::int64_t bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    bytes += model.window_bytes(1e6, 1e6);
  }
  EXPECT_NEAR(static_cast<double>(bytes), 125'000, 2);
}

}  // namespace
}  // namespace netbench::sim
