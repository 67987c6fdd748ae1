#include "bench/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace netbench::plan {
namespace {

TestPoint point(std::int64_t message_bytes, std::int64_t mtu_bytes = 0) {
  return {.transport = "tcp",
          .workload = "bandwidth",
          .pattern = Pattern::stream,
          .direction = Direction::forward,
          .message_bytes = message_bytes,
          .mtu_bytes = mtu_bytes};
}

SweepPlan plan_of(std::vector<TestPoint> points, std::vector<std::int64_t> mtus,
                  std::uint64_t seed) {
  return {.points = std::move(points), .mtu_levels = std::move(mtus), .rounds = 4, .seed = seed};
}

SweepPlan twenty_points(std::uint64_t seed) {
  std::vector<TestPoint> points;
  for (std::int64_t i = 1; i <= 20; ++i) {
    points.push_back(point(i));
  }
  return plan_of(points, {}, seed);
}

TEST(TestPointId, NamesEverythingThatWasAskedFor) {
  TestPoint full = point(131072, 1500);
  full.tunables["rcvbuf"] = Level::integer(262144);
  full.tunables["congestion"] = Level{1, "bbr", false};
  EXPECT_EQ(full.id(), "tcp/bandwidth/forward/131072/congestion=bbr/rcvbuf=262144/mtu=1500");
}

TEST(TestPointId, LeavesOutTheDirectionWhereThereIsNone) {
  TestPoint latency = point(64);
  latency.workload = "latency";
  latency.direction = Direction::none;
  EXPECT_EQ(latency.id(), "tcp/latency/64");
}

TEST(TestPointId, EscapesStructureInText) {
  TestPoint bound = point(64);
  bound.tunables["bind"] = Level{0, "a/b=c %", false};
  EXPECT_EQ(bound.id(), "tcp/bandwidth/forward/64/bind=a%2Fb%3Dc%20%25");
}

TEST(SweepPlanOrder, VisitsEveryPointOnceARoundWithRoundsOutermost) {
  const auto visits = twenty_points(1).order();
  ASSERT_EQ(visits.size(), 80U);
  for (std::uint32_t round = 0; round < 4; ++round) {
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(visits[round * 20 + i].round, round);
      seen.insert(visits[round * 20 + i].point);
    }
    EXPECT_EQ(seen.size(), 20U);
  }
}

TEST(SweepPlanOrder, IsTheSameForTheSameSeedAndDiffersForAnother) {
  EXPECT_EQ(twenty_points(7).order(), twenty_points(7).order());
  EXPECT_NE(twenty_points(7).order(), twenty_points(8).order());
}

TEST(SweepPlanOrder, DiffersBetweenRounds) {
  const auto visits = twenty_points(1).order();
  EXPECT_FALSE(std::equal(visits.begin(), visits.begin() + 20, visits.begin() + 20,
                          [](const Visit& a, const Visit& b) { return a.point == b.point; }));
}

TEST(SweepPlanOrder, ReversesTheMtuBlocksInEveryOtherRound) {
  const SweepPlan plan =
      plan_of({point(1), point(1, 1500), point(2, 1500), point(1, 9000)}, {1500, 9000}, 3);
  std::vector<std::int64_t> mtus;
  for (const Visit& visit : plan.order()) {
    if (mtus.empty() || mtus.back() != visit.mtu_bytes) {
      mtus.push_back(visit.mtu_bytes);
    }
  }
  EXPECT_EQ(mtus, (std::vector<std::int64_t>{0, 1500, 9000, 1500, 0, 1500, 9000, 1500, 0}));
}

TEST(SweepPlanOrder, GivesEveryVisitItsOwnSeed) {
  std::set<std::uint64_t> seeds;
  for (const Visit& visit : twenty_points(1).order()) {
    seeds.insert(visit.seed);
  }
  EXPECT_EQ(seeds.size(), 80U);
}

}  // namespace
}  // namespace netbench::plan
