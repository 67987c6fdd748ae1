#include "bench/stats/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/stats/quantile.hpp"
#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

constexpr std::int64_t kNsPerSample = 1'000;
constexpr std::size_t kBatch = 32;

/// Cap of 81,920 samples, no minimum time.
StoppingOptions simulated() {
  StoppingOptions options;
  options.min_time_ns = 0;
  options.max_time_ns = 81'920 * kNsPerSample;
  return options;
}

StopReason run(StoppingRule& rule, testing::LatencyModel& model) {
  StopReason reason = StopReason::go_on;
  while (reason == StopReason::go_on) {
    rule.add(model.take(kBatch));
    reason = rule.look(rule.count() * kNsPerSample);
  }
  return reason;
}

struct Outcome {
  double coverage = 0;
  double converged = 0;
  double median_n = 0;
};

Outcome simulate(double phi, std::size_t trials) {
  Outcome outcome;
  std::vector<double> counts;
  for (std::size_t i = 0; i < trials; ++i) {
    testing::LatencyModel model(50'000 + i, phi);
    StoppingRule rule(simulated());
    const StopReason reason = run(rule, model);
    const Estimate estimate = rule.estimate();
    const double truth = model.true_median();
    outcome.coverage += estimate.low <= truth && truth <= estimate.high ? 1.0 : 0.0;
    outcome.converged += reason == StopReason::converged ? 1.0 : 0.0;
    counts.push_back(static_cast<double>(rule.count()));
  }
  outcome.coverage /= static_cast<double>(trials);
  outcome.converged /= static_cast<double>(trials);
  outcome.median_n = median(counts);
  return outcome;
}

TEST(StoppingRule, CoversTheMedianOfIndependentSamplesAtItsLevel) {
  const Outcome outcome = simulate(0.0, 1'000);
  RecordProperty("coverage", std::to_string(outcome.coverage));
  RecordProperty("median_n", std::to_string(outcome.median_n));
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_LE(outcome.coverage, 0.99);
  EXPECT_GE(outcome.converged, 0.99);
  EXPECT_LE(outcome.median_n, 10'240);
}

TEST(StoppingRule, CoversTheMedianUnderStrongAutocorrelationAtItsLevel) {
  const Outcome outcome = simulate(0.8, 1'000);
  RecordProperty("coverage", std::to_string(outcome.coverage));
  RecordProperty("median_n", std::to_string(outcome.median_n));
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_LE(outcome.coverage, 0.99);
  EXPECT_GE(outcome.converged, 0.90);
}

TEST(StoppingRule, StopsOnlyOnDoublingLooks) {
  testing::LatencyModel model(1, 0.8);
  StoppingOptions options = simulated();
  options.precision = 0.002;
  StoppingRule rule(options);
  (void)run(rule, model);
  ASSERT_GE(rule.looks().size(), 3U);
  EXPECT_EQ(rule.looks().front().n, 640);
  for (std::size_t i = 1; i < rule.looks().size(); ++i) {
    EXPECT_EQ(rule.looks()[i].n, 2 * rule.looks()[i - 1].n);
  }
}

TEST(StoppingRule, GoesOnBeforeItHasEnoughSamplesOrTime) {
  StoppingRule rule({});
  rule.add(std::vector<double>(639, 5.0));
  EXPECT_EQ(rule.look(1'000'000'000), StopReason::go_on);
  rule.add(5.0);
  EXPECT_EQ(rule.look(249'999'999), StopReason::go_on);
  EXPECT_TRUE(rule.looks().empty());
  EXPECT_EQ(rule.look(250'000'000), StopReason::converged);
}

TEST(StoppingRule, ConvergesAtOnceOnConstantSamples) {
  StoppingRule rule(simulated());
  rule.add(std::vector<double>(640, 5.0));
  EXPECT_EQ(rule.look(0), StopReason::converged);
  EXPECT_DOUBLE_EQ(rule.estimate().value, 5);
  EXPECT_DOUBLE_EQ(rule.estimate().relative_half_width(), 0);
}

TEST(StoppingRule, DoesNotTrustANarrowIntervalOfCorrelatedBatches) {
  StoppingRule rule(simulated());
  for (int i = 0; i < 640; ++i) {
    rule.add(1'000 + 0.01 * i);  // a slow rise: width well below 1 %, lag-1 near 1
  }
  EXPECT_EQ(rule.look(0), StopReason::go_on);
  EXPECT_LT(rule.looks().back().estimate.relative_half_width(), 0.01);
  EXPECT_GT(rule.looks().back().lag1, StoppingRule::kMaxLag1);
}

TEST(StoppingRule, GivesUpNarrowingWhenTheWidthNoLongerFalls) {
  // A rise in proportion to its length: every look sees the same relative width.
  StoppingRule rule(simulated());
  StopReason reason = StopReason::go_on;
  for (const std::int64_t n : {640, 1'280, 2'560}) {
    ASSERT_EQ(reason, StopReason::go_on);
    while (rule.count() < n) {
      rule.add(static_cast<double>(rule.count() + 1));
    }
    reason = rule.look(n);
  }
  EXPECT_EQ(reason, StopReason::noise_converged);
  EXPECT_EQ(rule.looks().size(), 3U);
}

TEST(StoppingRule, EndsAtMaxTimeWithTheWidthItReached) {
  testing::LatencyModel model(2, 0.0, 1.0);
  StoppingOptions options = simulated();
  options.max_time_ns = 1'000'000;
  StoppingRule rule(options);
  EXPECT_EQ(run(rule, model), StopReason::max_time);
  EXPECT_GE(rule.count(), 1'000);
  EXPECT_TRUE(rule.estimate().has_interval);
  EXPECT_GT(rule.estimate().relative_half_width(), options.precision);
}

TEST(StoppingRule, EndsAtMaxTimeWithoutAnySample) {
  StoppingRule rule({});
  EXPECT_EQ(rule.look(5'000'000'000), StopReason::max_time);
  EXPECT_FALSE(rule.estimate().has_interval);
  EXPECT_TRUE(std::isfinite(rule.estimate().value));
}

TEST(StoppingRule, RepeatsItsAnswerOnceItHasStopped) {
  StoppingRule rule(simulated());
  rule.add(std::vector<double>(640, 5.0));
  EXPECT_EQ(rule.look(0), StopReason::converged);
  rule.add(std::vector<double>(5'000, 9.0));
  EXPECT_EQ(rule.look(10'000'000'000), StopReason::converged);
  EXPECT_EQ(rule.looks().size(), 1U);
}

TEST(StoppingRule, TakesTwentyWindowsOfARate) {
  StoppingOptions options = StoppingOptions::bandwidth();
  StoppingRule rule(options);
  for (int i = 0; i < 19; ++i) {
    rule.add(1e9);
  }
  EXPECT_EQ(rule.look(1'000'000'000), StopReason::go_on);
  rule.add(1e9);
  EXPECT_EQ(rule.look(1'000'000'000), StopReason::converged);
  EXPECT_DOUBLE_EQ(options.precision, 0.005);
}

TEST(StopReason, HasStableNames) {
  EXPECT_EQ(to_string(StopReason::go_on), "go_on");
  EXPECT_EQ(to_string(StopReason::converged), "converged");
  EXPECT_EQ(to_string(StopReason::noise_converged), "noise_converged");
  EXPECT_EQ(to_string(StopReason::max_time), "max_time");
  EXPECT_EQ(to_string(StopReason::cancelled), "cancelled");
}

}  // namespace
}  // namespace netbench::stats
