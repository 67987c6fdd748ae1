#include "bench/plan/builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/plan/specs.hpp"

namespace netbench::plan {
namespace {

std::vector<std::string> ids(const SweepPlan& plan) {
  std::vector<std::string> out;
  std::ranges::transform(plan.points, std::back_inserter(out), &TestPoint::id);
  return out;
}

PlanRequest request_for_tcp() {
  PlanRequest request;
  request.transports = {tcp_spec()};
  return request;
}

using Ids = std::vector<std::string>;

TEST(DefaultPlan, VariesOneFactorAtATimeFromTheBase) {
  PlanRequest request = request_for_tcp();
  request.default_mtus = {1500};
  const auto plan = build_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(
      ids(*plan),
      (Ids{"tcp/latency/64", "tcp/latency/1024", "tcp/latency/65536", "tcp/latency/64/nodelay=off",
           "tcp/bandwidth/forward/8192", "tcp/bandwidth/forward/131072",
           "tcp/bandwidth/forward/1048576", "tcp/bandwidth/reverse/131072",
           "tcp/bandwidth/both/131072", "tcp/bandwidth/forward/131072/sndbuf=262144",
           "tcp/bandwidth/forward/131072/sndbuf=4194304",
           "tcp/bandwidth/forward/131072/nodelay=off", "tcp/bandwidth/forward/131072/mtu=1500"}));
  EXPECT_EQ(plan->rounds, 5U);
  EXPECT_EQ(plan->mtu_levels, std::vector<std::int64_t>{1500});
}

TEST(QuickPlan, HasQuickSizesAndBothWaysOnly) {
  PlanRequest request = request_for_tcp();
  request.profile = Profile::quick;
  const auto plan = build_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(ids(*plan), (Ids{"tcp/latency/64", "tcp/bandwidth/forward/131072",
                             "tcp/bandwidth/reverse/131072"}));
  EXPECT_EQ(plan->rounds, 3U);
}

TEST(UserPlan, IsTheFullProductOfWhatWasGiven) {
  PlanRequest request = request_for_tcp();
  request.workloads = {"bandwidth"};
  request.sizes = {1024, 131072};
  request.mtus = {1500, 9000};
  request.tunables["tcp.sndbuf"] = {Level::automatic(), Level::integer(65536),
                                    Level::integer(262144)};
  const auto plan = build_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->points.size(), 2U * 2 * 3);
  const auto all = ids(*plan);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_NE(std::ranges::find(all, "tcp/bandwidth/forward/1024/sndbuf=auto/mtu=9000"), all.end());
}

TEST(UserPlan, KeepsTunablesOutOfWorkloadsTheyDoNotApplyTo) {
  PlanRequest request = request_for_tcp();
  request.sizes = {64};
  request.tunables["tcp.sndbuf"] = {Level::integer(65536)};
  EXPECT_EQ(ids(*build_plan(request)),
            (Ids{"tcp/latency/64", "tcp/bandwidth/forward/64/sndbuf=65536"}));
}

TEST(UserPlan, SingleLevelsHoldInTheWholeDefaultPlan) {
  PlanRequest request = request_for_tcp();
  request.tunables["tcp.nodelay"] = {Level{0, "off", false}};
  request.directions = {Direction::reverse};
  const auto plan = build_plan(request);
  ASSERT_TRUE(plan);
  for (const TestPoint& point : plan->points) {
    EXPECT_EQ(point.tunables.at("nodelay"), (Level{0, "off", false})) << point.id();
    EXPECT_NE(point.direction, Direction::forward) << point.id();
  }
}

TEST(UserPlan, LeavesOutWorkloadsWithoutAFittingSizeAndSaysSo) {
  PlanRequest request = request_for_tcp();
  request.sizes = {8 << 20};
  const auto plan = build_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(ids(*plan), Ids{"tcp/bandwidth/forward/8388608"});
  ASSERT_EQ(plan->notes.size(), 1U);
  EXPECT_NE(plan->notes.front().find("tcp/latency"), std::string::npos);
}

TEST(UserPlan, RefusesASizeThatNoWorkloadTakes) {
  PlanRequest request = request_for_tcp();
  request.sizes = {64, std::int64_t{1} << 40};
  const auto plan = build_plan(request);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().slug, "bad-size");
  EXPECT_EQ(plan.error().exit_class, ExitClass::usage);
  EXPECT_NE(plan.error().message.find("1 TiB"), std::string::npos) << plan.error().message;
}

TEST(UserPlan, IsRefusedWhereNothingIsLeft) {
  PlanRequest request = request_for_tcp();
  request.workloads = {"bandwidth"};
  request.directions = {Direction::none};
  EXPECT_EQ(build_plan(request).error().slug, "plan-empty");
}

TEST(UserPlan, SelectsAWorkloadOfOneTransport) {
  PlanRequest request = request_for_tcp();
  request.workloads = {"tcp/latency"};
  request.sizes = {64};
  EXPECT_EQ(ids(*build_plan(request)), Ids{"tcp/latency/64"});
}

TEST(UserPlan, RefusesUnknownNamesWithTheNearest) {
  PlanRequest request = request_for_tcp();
  request.workloads = {"bandwith"};
  EXPECT_NE(build_plan(request).error().message.find("\"bandwidth\""), std::string::npos);
  request.workloads.clear();
  request.tunables["tcp.sndbuff"] = {Level::integer(65536)};
  const auto plan = build_plan(request);
  EXPECT_EQ(plan.error().slug, "bad-tunable");
  EXPECT_NE(plan.error().message.find("\"tcp.sndbuf\""), std::string::npos);
}

TEST(UserPlan, RefusesATunableThatAppliesToNoChosenWorkload) {
  PlanRequest request = request_for_tcp();
  request.workloads = {"latency"};
  request.tunables["tcp.sndbuf"] = {Level::integer(65536)};
  EXPECT_EQ(build_plan(request).error().slug, "bad-tunable");
}

TEST(UserPlan, RefusesBadRoundsAndSizes) {
  PlanRequest request = request_for_tcp();
  request.rounds = 0;
  EXPECT_EQ(build_plan(request).error().slug, "bad-rounds");
  request.rounds = 3;
  request.sizes = {0};
  EXPECT_EQ(build_plan(request).error().slug, "bad-size");
}

TEST(UserPlan, RefusesMoreThanTenThousandPoints) {
  PlanRequest request = request_for_tcp();
  for (std::int64_t i = 1; i <= 200; ++i) {
    request.sizes.push_back(i);
    request.tunables["tcp.sndbuf"].push_back(Level::integer(4096 + i));
  }
  EXPECT_EQ(build_plan(request).error().slug, "plan-too-large");
}

TEST(Profiles, AreReadByName) {
  EXPECT_EQ(*parse_profile("default"), Profile::standard);
  EXPECT_EQ(parse_profile("fast").error().slug, "bad-profile");
  EXPECT_EQ(defaults_of(Profile::thorough).rounds, 9U);
}

}  // namespace
}  // namespace netbench::plan
