#include <gtest/gtest.h>

#include <tuple>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

Document idle_pair() {
  Document document = healthy_pair();
  document.measurements.clear();
  return document;
}

using Setting = std::tuple<const char*, const char*, Value, const char*>;

class StandingSetting : public testing::TestWithParam<Setting> {};

TEST_P(StandingSetting, IsToldBeforeAnyTraffic) {
  const auto& [id, key, value, remedy] = GetParam();
  const Document document = with_fact(idle_pair(), "h1", key, value);
  const Verdict verdict = judge(standing_rules(), id, document, -1);
  EXPECT_EQ(verdict.outcome, Outcome::fires) << verdict.why;
  EXPECT_TRUE(mentions(verdict.remedy, remedy));
  EXPECT_TRUE(mentions(verdict.remedy, "on nb-b: "));
}

TEST_P(StandingSetting, IsLeftToTheRowsWhereThereAreSome) {
  const auto& [id, key, value, remedy] = GetParam();
  const Document document = with_fact(healthy_pair(), "h1", key, value);
  EXPECT_EQ(judge(standing_rules(), id, document, -1).outcome, Outcome::silent);
}

INSTANTIATE_TEST_SUITE_P(
    All, StandingSetting,
    testing::Values(
        Setting{"standing.shaper", "qdisc.eth0.rate_bps", whole(100'000'000), "tc qdisc del"},
        Setting{"standing.cpu-quota", "cgroup.cpu_limit_cpus", 0.5, "cpu.max"},
        Setting{"standing.governor", "cpu.governor", text("powersave"), "performance"},
        Setting{"standing.ring", "if.eth0.ring.rx_descriptors", whole(64), "ethtool -G eth0 rx"},
        Setting{"standing.offloads", "if.eth0.offload.gro", false, "ethtool -K eth0 gro on"}));

TEST(StandingRules, AreSilentAboutAHealthyPair) {
  for (const Rule& rule : standing_rules()) {
    EXPECT_NE(judge(standing_rules(), rule.id, idle_pair(), -1).outcome, Outcome::fires) << rule.id;
  }
}

TEST(StandingRules, DoNotCallAShaperAboveTheLinkALimit) {
  const Document document = with_fact(idle_pair(), "h0", "qdisc.eth0.rate_bps", whole(400 * kGiga));
  EXPECT_EQ(judge(standing_rules(), "standing.shaper", document, -1).outcome, Outcome::silent);
}

}  // namespace
}  // namespace netbench::report
