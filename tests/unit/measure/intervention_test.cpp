#include "bench/measure/intervention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/stats/rng.hpp"
#include "tests/unit/measure/bench.hpp"

namespace netbench::measure {
namespace {

using test::Bench;

constexpr std::int64_t kFast = 4'000'000'000;  // bit/s, less than the path's own 10 Gb/s

/// A stream of the simulated path at 1 Gb/s, and the same with one thing changed.
Trial trial(Bench& bench, const std::string& id, const std::string& tunable, std::int64_t level) {
  const plan::SweepPlan plan = bench.plan(1, {{"sim.rate", "1G"}});
  Trial trial;
  trial.base = *std::ranges::find(plan.points, "bandwidth", &plan::TestPoint::workload);
  trial.changed = trial.base;
  trial.changed.tunables[tunable] = plan::Level::integer(level);
  trial.record.id = id;
  trial.record.row = trial.base.id();
  trial.record.metric = "goodput_bps";
  return trial;
}

TEST(ComparePairs, IsTheMedianOfThePairsRatios) {
  const std::array base{1.0, 2.0, 4.0, 8.0, 16.0};
  const std::array changed{2.0, 4.4, 8.0, 15.2, 32.0};
  Intervention record;
  compare_pairs(base, changed, 1, record);
  EXPECT_EQ(record.n_pairs, 5U);
  EXPECT_DOUBLE_EQ(record.ratio, 2);
  EXPECT_DOUBLE_EQ(record.base, 4);
  EXPECT_DOUBLE_EQ(record.changed, 8);
  EXPECT_DOUBLE_EQ(record.ratio_low, 1.9);
  EXPECT_DOUBLE_EQ(record.ratio_high, 2.2);
}

TEST(ComparePairs, LeavesOutPairsThatAreNone) {
  const std::array base{1.0, 0.0, 1.0, std::nan("")};
  const std::array changed{2.0, 2.0, 2.0, 2.0, 9.0};
  Intervention record;
  compare_pairs(base, changed, 1, record);
  EXPECT_EQ(record.n_pairs, 2U);
  EXPECT_DOUBLE_EQ(record.ratio, 2);
  Intervention empty;
  compare_pairs({}, {}, 1, empty);
  EXPECT_EQ(empty.n_pairs, 0U);
}

/// The interval holds the true ratio about as often as it says; with 5 pairs that is 94 %.
TEST(ComparePairs, CoversTheTrueRatio) {
  stats::Rng rng(7);
  int covered = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    std::array<double, 5> base{};
    std::array<double, 5> changed{};
    for (std::size_t i = 0; i < base.size(); ++i) {
      base[i] = std::exp(0.05 * rng.normal());
      changed[i] = 1.5 * std::exp(0.05 * rng.normal());
    }
    Intervention record;
    compare_pairs(base, changed, rng.next(), record);
    covered += record.ratio_low <= 1.5 && 1.5 <= record.ratio_high ? 1 : 0;
  }
  EXPECT_GT(covered, kRuns * 91 / 100);
  EXPECT_LT(covered, kRuns * 97 / 100);
}

TEST(Trials, FindWhatAChangeDoes) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast)};
  const TrialRun run = run_trials(trials, bench.context(), {});
  ASSERT_TRUE(run.outcome);
  ASSERT_EQ(run.interventions.size(), 1U);
  const Intervention& found = run.interventions[0];
  EXPECT_EQ(found.n_pairs, 5U);
  EXPECT_NEAR(found.ratio, 4, 0.4);
  EXPECT_GT(found.ratio_low, 3);
  EXPECT_NEAR(found.base, 1e9, 1e8);
  EXPECT_TRUE(found.note.empty()) << found.note;
}

TEST(Trials, OfOneRowShareItsVisits) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast),
                          trial(bench, "longer", "rtt", 1'000'000)};
  std::vector<std::string> order;
  TrialOptions options;
  options.budget_ns = 100'000'000'000;
  options.on_pair = [&](const Intervention& record, std::uint32_t pair) {
    order.push_back(record.id + std::to_string(pair));
  };
  const TrialRun run = run_trials(trials, bench.context(), options);
  ASSERT_EQ(run.interventions.size(), 2U);
  EXPECT_NEAR(run.interventions[1].ratio, 1, 0.1);
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 4),
            (std::vector<std::string>{"faster0", "longer0", "faster1", "longer1"}));
}

TEST(Trials, KeepToTheBudget) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast),
                          trial(bench, "longer", "rtt", 1'000'000),
                          trial(bench, "lossy", "loss_ppm", 1000)};
  std::int64_t now_ns = 0;
  TrialOptions options;
  options.now_ns = [&] { return now_ns += 600'000'000; };
  const TrialRun run = run_trials(trials, bench.context(), options);
  ASSERT_TRUE(run.outcome);
  EXPECT_EQ(run.interventions.front().id, "faster");
  EXPECT_LT(run.interventions.size(), trials.size());
  EXPECT_LE(now_ns, options.budget_ns + 1'000'000'000);
}

TEST(Trials, AreNotBegunWithoutTime) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast)};
  TrialOptions options;
  options.budget_ns = 1'000'000'000;
  EXPECT_TRUE(run_trials(trials, bench.context(), options).interventions.empty());
}

TEST(Trials, ThatCannotBeMadeSayWhyAndCostTheOthersNothing) {
  Bench bench;
  const std::array trials{trial(bench, "impossible", "no_such_tunable", 1),
                          trial(bench, "faster", "rate", kFast)};
  TrialOptions options;
  options.budget_ns = 100'000'000'000;
  const TrialRun run = run_trials(trials, bench.context(), options);
  ASSERT_TRUE(run.outcome);
  ASSERT_EQ(run.interventions.size(), 2U);
  EXPECT_EQ(run.interventions[0].n_pairs, 0U);
  EXPECT_NE(run.interventions[0].note.find("no_such_tunable"), std::string::npos)
      << run.interventions[0].note;
  EXPECT_EQ(run.interventions[1].n_pairs, 5U);
}

TEST(Trials, WhoseValueDidNotChangeProveNothing) {
  Bench bench;
  Trial same = trial(bench, "same", "rate", kFast);
  same.base.tunables.erase("rate");
  same.changed.tunables["rate"] = plan::Level::integer(10'000'000'000);  // the default
  const std::array trials{same};
  const TrialRun run = run_trials(trials, bench.context(), {});
  ASSERT_EQ(run.interventions.size(), 1U);
  EXPECT_EQ(run.interventions[0].n_pairs, 0U);
  EXPECT_NE(run.interventions[0].note.find("changed nothing"), std::string::npos);
}

TEST(Trials, EndAtASignalWithThePairsSoFar) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast)};
  TrialOptions options;
  options.on_pair = [&](const Intervention&, std::uint32_t pair) { bench.interrupted = pair == 3; };
  const TrialRun run = run_trials(trials, bench.context(), options);
  ASSERT_FALSE(run.outcome);
  EXPECT_EQ(run.outcome.error().exit_class, ExitClass::interrupted);
  ASSERT_EQ(run.interventions.size(), 1U);
  EXPECT_EQ(run.interventions[0].n_pairs, 3U);
}

TEST(Trials, EndWhenThePeerIsLost) {
  Bench bench;
  const std::array trials{trial(bench, "faster", "rate", kFast)};
  TrialOptions options;
  options.on_pair = [&](const Intervention&, std::uint32_t) { bench.channel().close(); };
  const TrialRun run = run_trials(trials, bench.context(), options);
  EXPECT_FALSE(run.outcome);
  EXPECT_TRUE(run.interventions.empty());
}

}  // namespace
}  // namespace netbench::measure
