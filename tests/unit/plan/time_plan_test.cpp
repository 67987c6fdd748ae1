#include "bench/plan/time_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace netbench::plan {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<TestPoint> points(std::size_t streams, std::size_t ping_pongs) {
  std::vector<TestPoint> all(streams, TestPoint{.pattern = Pattern::stream});
  all.resize(streams + ping_pongs, TestPoint{.pattern = Pattern::ping_pong});
  return all;
}

TEST(TimePlan, GivesStreamsAtLeastHalfASecondAndPingPongsFiftyMilliseconds) {
  const TimePlan plan = plan_time(points(4, 4), 5, 20 * kSecond);
  EXPECT_GE(plan.of(Pattern::stream).min_time_ns, kSecond / 2);
  EXPECT_GE(plan.of(Pattern::ping_pong).min_time_ns, kSecond / 20);
}

TEST(TimePlan, UsesTheBudgetWithoutExceedingIt) {
  const TimePlan plan = plan_time(points(4, 4), 5, 40 * kSecond);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.rounds, 5U);
  EXPECT_LE(plan.estimate_ns, 40 * kSecond);
  EXPECT_GE(plan.estimate_ns, 39 * kSecond);
  EXPECT_TRUE(plan.note.empty());
}

TEST(TimePlan, DropsRoundsBeforeTimeAndSaysSo) {
  const TimePlan plan = plan_time(points(10, 0), 5, 30 * kSecond);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.rounds, 4U);
  EXPECT_LE(plan.estimate_ns, 30 * kSecond);
  EXPECT_NE(plan.note.find("4 rounds instead of 5"), std::string::npos);
}

TEST(TimePlan, SaysWhatItNeedsWhereEvenThreeRoundsDoNotFit) {
  const TimePlan plan = plan_time(points(100, 0), 5, 10 * kSecond);
  EXPECT_FALSE(plan.fits);
  EXPECT_EQ(plan.rounds, 3U);
  EXPECT_GT(plan.minimum_ns, 10 * kSecond);
  EXPECT_EQ(plan.of(Pattern::stream).max_time_ns, plan.of(Pattern::stream).min_time_ns);
  EXPECT_NE(plan.note.find("--budget 204"), std::string::npos) << plan.note;
}

TEST(TimePlan, WithoutABudgetEveryVisitMayTakeItsCap) {
  const TimePlan plan = plan_time(points(1, 1), 5, 0);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.of(Pattern::stream).max_time_ns, 10 * kSecond);
  EXPECT_EQ(plan.of(Pattern::ping_pong).max_time_ns, 5 * kSecond);
}

TEST(TimePlan, ALargeBudgetStopsAtTheCaps) {
  const TimePlan plan = plan_time(points(1, 1), 3, 3600 * kSecond);
  EXPECT_EQ(plan.of(Pattern::stream).max_time_ns, 10 * kSecond);
  EXPECT_LT(plan.estimate_ns, 60 * kSecond);
}

TEST(TimePlan, KeepsFewerRoundsThanTheMinimumWhereAskedFor) {
  EXPECT_EQ(plan_time(points(100, 0), 1, kSecond).rounds, 1U);
}

}  // namespace
}  // namespace netbench::plan
