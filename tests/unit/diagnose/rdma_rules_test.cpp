// The rules of RDMA that read facts and other rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "rdma_pair.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/diagnose/experiments.hpp"
#include "report/diagnose/subjects.hpp"

namespace netbench::report::test {
namespace {

TEST(RdmaRules, HaveUniqueIdsAndAClass) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rdma_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(rule.id.starts_with("rdma.")) << rule.id;
    EXPECT_FALSE(rule.class_id.empty()) << rule.id;
  }
}

TEST(RdmaRules, CoverEveryClassOfTheCatalogue) {
  std::set<std::string_view> classes;
  for (const Rule& rule : rdma_rules()) {
    classes.insert(rule.class_id);
  }
  for (const char* id : {"R01", "R02", "R03", "R04", "R05", "R06", "R07", "R08", "R09", "R10",
                         "R11", "R12", "R13", "R14", "R15"}) {
    EXPECT_TRUE(classes.contains(id)) << id;
  }
}

TEST(RdmaRules, FindNothingAboveInfoOnAHealthyPair) {
  for (const Finding& finding : diagnose(full_speed()).findings) {
    EXPECT_EQ(finding.severity, Severity::info) << finding.id << ": " << finding.cause;
  }
  EXPECT_EQ(diagnose(full_speed()).findings.front().id, "healthy.link-limited");
}

TEST(RdmaRules, AreUnknownOrSilentWithoutEvidence) {
  const Document document = DocumentBuilder().row(RowBuilder::verbs(6e9)).build();
  for (const Rule& rule : rdma_rules()) {
    if (rule.scope == Scope::hosts || rule.scope == Scope::verbs_stream) {
      EXPECT_NE(of_row(rule.id, document, rule.scope == Scope::hosts ? -1 : 0).outcome,
                Outcome::fires)
          << rule.id;
    }
  }
}

TEST(RdmaRules, SayNothingOfHostsWithoutRdma) {
  const Document document = DocumentBuilder().row(RowBuilder::stream(9e9)).build();
  for (const Finding& finding : diagnose(document).findings) {
    EXPECT_FALSE(finding.id.starts_with("rdma.")) << finding.id;
  }
}

struct Broken {
  const char* rule;
  const char* key;
  Value value;
};

class BrokenPort : public testing::TestWithParam<Broken> {};

TEST_P(BrokenPort, IsNamed) {
  const auto& [rule, key, value] = GetParam();
  EXPECT_EQ(of_hosts(rule, healthy().build()).outcome, Outcome::silent)
      << of_hosts(rule, healthy().build()).why;
  const Verdict verdict = of_hosts(rule, with(healthy().build(), "h1", key, value));
  EXPECT_EQ(verdict.outcome, Outcome::fires) << verdict.why;
  EXPECT_FALSE(verdict.cause.empty());
  EXPECT_FALSE(verdict.remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Facts, BrokenPort,
    testing::Values(Broken{"rdma.access", "rdma.mlx5_0.access", words("no device node")},
                    Broken{"rdma.access", "rdma.mlx5_0.access", words("not permitted")},
                    Broken{"rdma.port-down", "rdma.mlx5_0.state", words("DOWN")},
                    Broken{"rdma.gid-pair", "rdma.mlx5_0.gid.3.type", words("IB/RoCE v1")},
                    Broken{"rdma.gid-pair", "rdma.mlx5_0.gid.3.address", words("fe80::1")},
                    Broken{"rdma.rates-differ", "rdma.mlx5_0.rate_bps", 100e9},
                    Broken{"rdma.locked-memory", "rdma.memlock_bytes", whole(65536)},
                    Broken{"rdma.firmware", "rdma.mlx5_0.firmware", words("20.28.1002")},
                    Broken{"rdma.iommu", "rdma.mlx5_0.iommu_group_type", words("DMA-FQ")},
                    Broken{"rdma.slot-degraded", "rdma.mlx5_0.pcie.width_lanes", whole(8)},
                    Broken{"rdma.slot-narrow", "rdma.mlx5_0.pcie.width_lanes", whole(4)}));

TEST(RdmaPort, OfAContainerIsToldHowToBeGiven) {
  Document document = with(healthy().build(), "h1", "rdma.mlx5_0.access", words("no device node"));
  document = with(std::move(document), "h1", "host.container", words("docker"));
  EXPECT_NE(of_hosts("rdma.access", document).remedy.at(0).find("--device=/dev/infiniband"),
            std::string::npos);
}

TEST(RdmaPort, ThatIsDownBesideAnActiveOneIsOnlyToldOf) {
  Document document = healthy().build();
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.mlx5_1.driver", words("mlx5")},
           {"rdma.mlx5_1.state", words("DOWN")},
           {"rdma.mlx5_1.phys_state", words("Disabled")}}) {
    document = with(std::move(document), "h0", key, value);
  }
  const Verdict verdict = of_hosts("rdma.port-down", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires) << verdict.why;
  EXPECT_EQ(verdict.severity, Severity::info);
}

TEST(RdmaPort, WaitsForASubnetManagerOnInfinibandAlone) {
  Document document = with(healthy().build(), "h0", "rdma.mlx5_0.state", words("INIT"));
  EXPECT_EQ(of_hosts("rdma.no-subnet-manager", document).outcome, Outcome::silent);
  document = with(std::move(document), "h0", "rdma.mlx5_0.link_layer", words("InfiniBand"));
  EXPECT_EQ(of_hosts("rdma.no-subnet-manager", document).confidence, Confidence::confirmed);
}

TEST(RdmaPort, LimitedAtBothEndsMayNotTalk) {
  Document document = healthy().build();
  for (const char* host : {"h0", "h1"}) {
    document = with(std::move(document), host, "rdma.mlx5_0.link_layer", words("InfiniBand"));
    EXPECT_EQ(of_hosts("rdma.partition", document).outcome, Outcome::silent);
    document = with(std::move(document), host, "rdma.mlx5_0.pkey", whole(0x7fff));
  }
  EXPECT_EQ(of_hosts("rdma.partition", document).outcome, Outcome::fires);
}

TEST(RdmaPort, WithOneLaneOrSlowerThanItsSiblingIsDegraded) {
  Document document = with(healthy().build(), "h0", "rdma.mlx5_0.link_layer", words("InfiniBand"));
  EXPECT_EQ(of_hosts("rdma.lanes", document).outcome, Outcome::silent);
  EXPECT_EQ(
      of_hosts("rdma.lanes", with(document, "h0", "rdma.mlx5_0.lanes", words("1X HDR"))).outcome,
      Outcome::fires);
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.mlx5_1.driver", words("mlx5")},
           {"rdma.mlx5_1.state", words("ACTIVE")},
           {"rdma.mlx5_1.board", words("MT_0000000224")},
           {"rdma.mlx5_1.lanes", words("4X EDR")}}) {
    document = with(std::move(document), "h0", key, value);
  }
  EXPECT_EQ(of_hosts("rdma.lanes", document).confidence, Confidence::likely);
}

TEST(RdmaPort, ReportsAreMildWhereRdmaWasNotAskedFor) {
  Document document = healthy().row(RowBuilder::stream(9e9)).build();
  document = with(std::move(document), "h1", "rdma.mlx5_0.access", words("no device node"));
  EXPECT_EQ(of_hosts("rdma.access", document).severity, Severity::info);
}

TEST(RdmaSubnet, SharedByTwoRailsIsTold) {
  Document document = healthy().build();
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.mlx5_1.state", words("ACTIVE")},
           {"rdma.mlx5_1.link_layer", words("Ethernet")},
           {"rdma.mlx5_1.gid.3.address", words("::ffff:192.168.1.110")},
           {"rdma.mlx5_1.gid.3.type", words("RoCE v2")}}) {
    document = with(std::move(document), "h0", key, value);
  }
  EXPECT_EQ(of_hosts("rdma.one-subnet", document).outcome, Outcome::fires);
  document = with(std::move(document), "h0", "sysctl.net.ipv4.conf.all.arp_ignore", whole(1));
  document = with(std::move(document), "h0", "sysctl.net.ipv4.conf.all.arp_announce", whole(2));
  EXPECT_EQ(of_hosts("rdma.one-subnet", document).outcome, Outcome::silent);
}

TEST(RdmaSoftware, IsLabelledAndNeverMoreThanInfo) {
  const Diagnosis diagnosis = diagnose(software(false));
  const auto label = std::ranges::find(diagnosis.findings, "rdma.software", &Finding::id);
  ASSERT_NE(label, diagnosis.findings.end());
  EXPECT_NE(label->cause.find("software RDMA, not comparable with hardware"), std::string::npos);
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_EQ(finding.severity, Severity::info) << finding.id << ": " << finding.cause;
  }
}

TEST(RdmaSoftware, BesideCardsAtBothEndsIsAMistake) {
  EXPECT_EQ(of_hosts("rdma.software-by-mistake", software(true)).outcome, Outcome::fires);
  EXPECT_EQ(of_hosts("rdma.software-by-mistake", software(false)).outcome, Outcome::silent);
}

RowBuilder slow_row() {
  return RowBuilder::verbs(100e9).ceiling(195.9e9).effective("verbs.gid_index", whole(3));
}

TEST(RdmaSpeed, OfOneQueuePairIsLikelyWhereFourCarryMore) {
  const Document document =
      healthy()
          .row(slow_row())
          .row(RowBuilder::verbs(190e9).id("four").asked("verbs.qps", whole(4)))
          .build();
  EXPECT_EQ(of_row("rdma.one-queue-pair", document).confidence, Confidence::likely);
}

TEST(RdmaSpeed, OfOneQueuePairIsConfirmedByAnExperiment) {
  const Document document = healthy().row(slow_row()).moved("more-queue-pairs", 1.9).build();
  const auto findings = diagnose(document).findings;
  EXPECT_EQ(findings.front().id, "rdma.one-queue-pair");
  EXPECT_EQ(findings.front().confidence, Confidence::confirmed);
}

TEST(RdmaSpeed, BelowTheWireAsksForExperiments) {
  const Diagnosis diagnosis = diagnose(healthy().row(slow_row()).build());
  ASSERT_FALSE(diagnosis.experiments.empty());
  EXPECT_EQ(diagnosis.experiments.front().tunables.size(), 1U);
  EXPECT_TRUE(diagnosis.experiments.front().tunables.begin()->first.starts_with("verbs."));
}

TEST(RdmaSpeed, IsTheQueuesWhereItsDepthOverTheRoundTripIsNear) {
  Document document = healthy().row(slow_row().effective("verbs.tx_depth", whole(4))).build();
  Measurement latency = RowBuilder::round_trips(20e3).build();
  latency.transport = "verbs";
  document.measurements.push_back(latency);
  const Verdict verdict = of_row("rdma.queue-depth", document);
  EXPECT_EQ(verdict.confidence, Confidence::likely) << verdict.why;
}

TEST(RdmaSpeed, OfReadsIsTheirDepths) {
  Document document = healthy()
                          .row(slow_row()
                                   .effective("verbs.op", words("read"))
                                   .effective("verbs.read_depth", whole(1)))
                          .build();
  Measurement latency = RowBuilder::round_trips(5e3).build();
  latency.transport = "verbs";
  document.measurements.push_back(latency);
  EXPECT_EQ(of_row("rdma.read-depth", document).outcome, Outcome::fires)
      << of_row("rdma.read-depth", document).why;
}

TEST(RdmaSpeed, FarBelowTheWireWithoutACauseIsAVerdictOfItsOwn) {
  const Document document =
      healthy()
          .row(RowBuilder::verbs(13e9).ceiling(195.9e9).effective("verbs.tx_depth", whole(128)))
          .build();
  EXPECT_EQ(of_row("rdma.far-below", document).outcome, Outcome::fires);
}

TEST(RdmaSpeed, OfOneRailBelowItsSiblingsIsNamed) {
  const auto rail = [](const char* name, double bps) {
    return RowBuilder::verbs(bps)
        .id(name)
        .asked("verbs.device", words(name))
        .effective("verbs.device", words(name));
  };
  const Document document = healthy()
                                .row(rail("mlx5_0", 100e9))
                                .row(rail("mlx5_1", 190e9))
                                .row(rail("mlx5_2", 191e9))
                                .build();
  const Verdict verdict = of_row("rdma.sibling-rails", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed) << verdict.why;
  EXPECT_EQ(of_row("rdma.sibling-rails", document, 1).outcome, Outcome::silent);
  EXPECT_EQ(subjects_of(document).size(), 3U);
}

TEST(RdmaSettings, OfRelaxedOrderingAreJudgedByTheOtherRow) {
  const auto relaxed = RowBuilder::verbs(190e9).id("relaxed").asked("verbs.relaxed_ordering", true);
  const Document document = healthy().row(slow_row()).row(relaxed).build();
  EXPECT_EQ(of_row("rdma.ordering", document).confidence, Confidence::likely);
}

TEST(RdmaSettings, OfRelaxedOrderingMaySlowRoundTrips) {
  const auto latency = [](double ns, bool on) {
    Measurement row = RowBuilder::round_trips(ns)
                          .id(on ? "on" : "off")
                          .asked("verbs.relaxed_ordering", on)
                          .effective("verbs.relaxed_ordering", on)
                          .build();
    row.transport = "verbs";
    return row;
  };
  Document document = healthy().build();
  document.measurements = {latency(2.5e6, true), latency(1e4, false)};
  const Verdict verdict = of_row("rdma.ordering-latency", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed) << verdict.why;
  EXPECT_EQ(of_row("rdma.ordering-latency", document, 1).outcome, Outcome::silent);
}

TEST(RdmaSettings, OfTheConnectionManagerAreComparedWithTheExchange) {
  const Document document =
      healthy()
          .row(slow_row()
                   .asked("verbs.connect", words("rdma_cm"))
                   .effective("verbs.connect", words("rdma_cm")))
          .row(RowBuilder::verbs(190e9).id("exchange").asked("verbs.connect", words("exchange")))
          .build();
  EXPECT_EQ(of_row("rdma.connection-manager", document).outcome, Outcome::fires);
}

TEST(RdmaSettings, OfThePathMtuAreComparedWithThePorts) {
  const Document document =
      healthy().row(slow_row().effective("verbs.path_mtu", whole(1024))).build();
  EXPECT_EQ(of_row("rdma.path-mtu", document).outcome, Outcome::fires);
}

TEST(RdmaSettings, OfTheNodeAreComparedWithTheCards) {
  const Document document = healthy().row(slow_row().effective("verbs.numa", whole(0))).build();
  EXPECT_EQ(of_row("rdma.far-node", document).outcome, Outcome::fires);
  const auto& wanted = diagnose(document).experiments;
  const auto near = std::ranges::find(wanted, "near-node", &Experiment::id);
  ASSERT_NE(near, wanted.end());
  EXPECT_EQ(near->tunables.at("verbs.numa"), whole(1));
}

}  // namespace
}  // namespace netbench::report::test
