#include <gtest/gtest.h>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

TEST(Clock, IsJudgedByWhatTheMeasurementCanTell) {
  Document document = pair_with("h1", "clock.offset_s", 0.004);
  document = with_fact(std::move(document), "h1", "clock.offset_uncertainty_s", 0.0005);
  EXPECT_NE(expect_fires(consistency_rules(), "hosts.clock", document).why.find("known to 0.5 ms"),
            std::string::npos);
  document = with_fact(std::move(document), "h1", "clock.offset_uncertainty_s", 0.02);
  EXPECT_EQ(judge(consistency_rules(), "hosts.clock", document, -1).outcome, Outcome::silent);
}

TEST(ConsistencyRules, AreSilentAboutAHealthyPair) {
  expect_all(consistency_rules(), healthy_pair(), Outcome::silent);
}

TEST(ConsistencyRules, AreUnknownWithoutEvidence) {
  expect_all(consistency_rules(), without_evidence(), Outcome::unknown);
}

TEST(ConsistencyRules, AreNeverAboveLevelInfoByThemselves) {
  for (const Rule& rule : consistency_rules()) {
    EXPECT_EQ(rule.severity, Severity::info) << rule.id;
  }
}

TEST(Versions, TellBothValues) {
  const auto verdict = expect_fires(consistency_rules(), "hosts.versions",
                                    pair_with("h1", "kernel.release", text("5.15.0")));
  EXPECT_NE(verdict.cause.find("kernel.release 6.1.0 and 5.15.0"), std::string::npos);
}

TEST(Sysctls, NameTheSettingAsSysctlDoes) {
  const auto verdict =
      expect_fires(consistency_rules(), "hosts.sysctls",
                   pair_with("h1", "sysctl.net.ipv4.tcp_rmem_max_bytes", whole(262144)));
  EXPECT_TRUE(mentions(verdict.remedy, "sysctl net.ipv4.tcp_rmem"));
  EXPECT_FALSE(mentions(verdict.remedy, "tcp_rmem_max"));
}

TEST(LinkSettings, CompareInterfacesOfDifferentNames) {
  Document document = healthy_pair();
  HostInfo& far = document.hosts.at("h1");
  far.interface = "ens3";
  for (Fact& fact : far.facts) {
    if (fact.key.starts_with("if.eth0.")) {
      fact.key = "if.ens3." + fact.key.substr(8);
    }
  }
  EXPECT_EQ(judge(consistency_rules(), "hosts.link-settings", document, -1).outcome,
            Outcome::silent);
  document = with_fact(std::move(document), "h1", "if.ens3.offload.gro", false);
  const auto verdict = expect_fires(consistency_rules(), "hosts.link-settings", document);
  EXPECT_NE(verdict.cause.find("if.*.offload.gro on and off"), std::string::npos) << verdict.cause;
}

TEST(Platform, FiresOnAnotherSlotWidth) {
  expect_fires(consistency_rules(), "hosts.platform",
               pair_with("h1", "if.eth0.pcie.width_lanes", whole(4)));
}

TEST(Clock, FiresOnAMillisecond) {
  expect_fires(consistency_rules(), "hosts.clock", pair_with("h1", "clock.offset_s", 0.25));
}

TEST(Names, FireWhereTheNameLeadsToAnotherNetwork) {
  const auto verdict = expect_fires(consistency_rules(), "hosts.names",
                                    pair_with("h0", "name.peer_resolves_to", text("10.0.0.7")));
  EXPECT_TRUE(mentions(verdict.remedy, "echo '192.168.1.101 nb-b' >> /etc/hosts"));
}

TEST(Names, AreAWarningWhereOneEndAloneIsLedElsewhereByTheNameOfTheTest) {
  Document document = pair_with("h0", "name.peer_resolves_to", text("10.0.0.7"));
  document.config["peer"] = text("192.168.1.101");
  EXPECT_EQ(expect_fires(consistency_rules(), "hosts.names", document).severity, std::nullopt);
  document.config["peer"] = text("nb-b");
  EXPECT_EQ(expect_fires(consistency_rules(), "hosts.names", document).severity, Severity::warning);
  document = with_fact(std::move(document), "h1", "name.peer_resolves_to", text("10.0.0.6"));
  EXPECT_EQ(expect_fires(consistency_rules(), "hosts.names", document).severity, std::nullopt);
}

TEST(Names, DoNotTakeOneAddressForTheBeginningOfAnother) {
  EXPECT_EQ(judge(consistency_rules(), "hosts.names",
                  pair_with("h0", "name.peer_resolves_to", text("192.168.1.10")), -1)
                .outcome,
            Outcome::fires);
}

}  // namespace
}  // namespace netbench::report
