// The rules of RDMA that read facts, other rows and errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "builder.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/diagnose/experiments.hpp"
#include "report/diagnose/rdma_completion.hpp"
#include "report/diagnose/subjects.hpp"

namespace netbench::report::test {
namespace {

Value words(const char* text) { return std::string(text); }
Value whole(std::int64_t number) { return number; }

/// Two hosts with a healthy 200 Gb/s card each.
DocumentBuilder healthy() {
  DocumentBuilder builder;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.devices", whole(1)},
           {"rdma.memlock_bytes", whole(std::int64_t{1} << 40)},
           {"rdma.cap_ipc_lock", false},
           {"rdma.mlx5_0.driver", words("mlx5")},
           {"rdma.mlx5_0.software", false},
           {"rdma.mlx5_0.state", words("ACTIVE")},
           {"rdma.mlx5_0.phys_state", words("LinkUp")},
           {"rdma.mlx5_0.link_layer", words("Ethernet")},
           {"rdma.mlx5_0.rate_bps", 200e9},
           {"rdma.mlx5_0.lanes", words("4X HDR")},
           {"rdma.mlx5_0.board", words("MT_0000000224")},
           {"rdma.mlx5_0.firmware", words("20.39.1002")},
           {"rdma.mlx5_0.interface", words("eth0")},
           {"rdma.mlx5_0.interface_mtu_bytes", whole(9000)},
           {"rdma.mlx5_0.active_mtu_bytes", whole(4096)},
           {"rdma.mlx5_0.access", words("allowed")},
           {"rdma.mlx5_0.pkey", whole(0xffff)},
           {"rdma.mlx5_0.sm_lid", whole(0)},
           {"rdma.mlx5_0.gid.3.type", words("RoCE v2")},
           {"rdma.mlx5_0.iommu_group_type", words("identity")},
           {"rdma.mlx5_0.numa_node", whole(1)},
           {"rdma.mlx5_0.pcie.speed_gtps", 16.0},
           {"rdma.mlx5_0.pcie.max_speed_gtps", 16.0},
           {"rdma.mlx5_0.pcie.width_lanes", whole(16)},
           {"rdma.mlx5_0.pcie.max_width_lanes", whole(16)}}) {
    builder.fact(key, value);
  }
  builder.fact("h0", "rdma.mlx5_0.gid.3.address", words("::ffff:192.168.1.100"));
  builder.fact("h1", "rdma.mlx5_0.gid.3.address", words("::ffff:192.168.1.101"));
  return builder;
}

Document with(Document document, const std::string& host, const std::string& key, Value value) {
  auto& facts = document.hosts.at(host).facts;
  std::erase_if(facts, [&](const Fact& fact) { return fact.key == key; });
  facts.push_back({key, std::move(value), "test", ""});
  return document;
}

Verdict of_hosts(std::string_view rule, const Document& document) {
  return judge(rdma_rules(), rule, document, -1);
}

Verdict of_row(std::string_view rule, const Document& document, int row = 0) {
  return judge(rdma_rules(), rule, document, row);
}

Document full_speed() {
  return healthy()
      .row(RowBuilder::verbs(193e9)
               .ceiling(195.9e9)
               .effective("verbs.gid_index", whole(3))
               .effective("verbs.tx_depth", whole(128)))
      .build();
}

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

Document software(bool with_card) {
  Document document = healthy().row(RowBuilder::verbs(1e9)).build();
  for (const char* host : {"h0", "h1"}) {
    document = with(std::move(document), host, "rdma.rxe0.driver", words("rxe"));
    document = with(std::move(document), host, "rdma.rxe0.software", true);
    document = with(std::move(document), host, "rdma.rxe0.state", words("ACTIVE"));
    if (!with_card) {
      std::erase_if(document.hosts.at(host).facts,
                    [](const Fact& fact) { return fact.key.starts_with("rdma.mlx5_0."); });
    }
  }
  auto& tunables = document.measurements[0].tunables;
  tunables.effective_initiator["verbs.device"] = words("rxe0");
  tunables.effective_responder["verbs.device"] = words("rxe0");
  return document;
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

Error error(const char* slug, const char* message = "") {
  return {slug, message, {}, ExitClass::error};
}

TEST(Completion, IsKnownByItsSlugOrItsNumber) {
  EXPECT_EQ(completion_of(error("rdma-retry-exceeded")), Completion::retry_exceeded);
  EXPECT_EQ(completion_of(error("verbs-wc-retry-exc-err")), Completion::retry_exceeded);
  EXPECT_EQ(completion_of(error("verbs-wc-loc-prot")), Completion::local_protection);
  EXPECT_EQ(completion_of(error("x", "completion with status 13")), Completion::receiver_not_ready);
  EXPECT_FALSE(completion_of(error("visit-deadline", "too late")).has_value());
  EXPECT_EQ(completion_text(Completion::retry_exceeded), "RETRY_EXC (12)");
}

Finding verdict_on(const Document& document) { return diagnose(document).findings.front(); }

RowBuilder gave_up() {
  return RowBuilder::failed(
      "rdma-retry-exceeded",
      "write to 192.168.1.101: no acknowledgement (RETRY_EXC_ERR, status 12)");
}

TEST(RdmaFailure, OfPacketsThatNeverArrivedIsConfirmedByBothEnds) {
  const Document document =
      healthy()
          .fact("rdma.mlx5_0.counter_names", words("rx_write_requests port_rcv_packets"))
          .row(gave_up()
                   .sender({{"rdma.mlx5_0.local_ack_timeout_err", 7}})
                   .receiver({{"rdma.mlx5_0.np_cnp_sent", 1}}))
          .build();
  const Finding finding = verdict_on(document);
  EXPECT_EQ(finding.id, "rdma.never-arrived") << finding.cause;
  EXPECT_EQ(finding.confidence, Confidence::confirmed);
  EXPECT_NE(finding.remedy.at(0).find("4791"), std::string::npos);
}

TEST(RdmaFailure, OfPacketsThatArrivedIsSoughtOnTheWay) {
  const Document document =
      healthy().row(gave_up().receiver({{"rdma.mlx5_0.rx_write_requests", 70}})).build();
  EXPECT_EQ(verdict_on(document).id, "rdma.no-answer");
}

TEST(RdmaFailure, BehindAFirewallIsLikelyForSoftware) {
  Document document = software(false);
  document.measurements[0] = gave_up().effective("verbs.device", words("rxe0")).build();
  document = with(std::move(document), "h1", "firewall.input_refuses", true);
  EXPECT_EQ(verdict_on(document).id, "rdma.never-arrived");
}

TEST(RdmaFailure, OfAPathMtuAboveTheInterfacesIsNamed) {
  Document document = healthy()
                          .row(RowBuilder::failed("visit-deadline",
                                                  "not finished 20 s after its "
                                                  "start")
                                   .asked("verbs.path_mtu", whole(4096)))
                          .build();
  document = with(std::move(document), "h1", "rdma.mlx5_0.interface_mtu_bytes", whole(1500));
  EXPECT_EQ(verdict_on(document).id, "rdma.path-mtu-too-large");
}

TEST(RdmaFailure, OfAnotherTrafficClassThanThePassingRowsIsConfirmed) {
  const Document document =
      healthy()
          .row(gave_up())
          .row(RowBuilder::verbs(190e9).id("class").asked("verbs.traffic_class", whole(236)))
          .build();
  const Finding finding = verdict_on(document);
  EXPECT_EQ(finding.class_id, "R03") << finding.cause;
  EXPECT_EQ(finding.confidence, Confidence::confirmed);
}

TEST(RdmaFailure, OfAGidIndexThatMeansSomethingElseThereIsNamed) {
  Document document = healthy().row(gave_up().asked("verbs.gid_index", whole(3))).build();
  document = with(std::move(document), "h1", "rdma.mlx5_0.gid.3.address", words("fe80::1"));
  EXPECT_EQ(verdict_on(document).class_id, "R02");
}

TEST(RdmaFailure, OfAPairOfGidIndicesIsReadByEnd) {
  Document document = healthy().row(gave_up().asked("verbs.gid_index", words("3:1"))).build();
  EXPECT_EQ(verdict_on(document).class_id, "R02") << "index 1 of nb-b is not in use";
  document =
      with(std::move(document), "h1", "rdma.mlx5_0.gid.1.address", words("::ffff:192.168.1.101"));
  document = with(std::move(document), "h1", "rdma.mlx5_0.gid.1.type", words("RoCE v2"));
  EXPECT_EQ(verdict_on(document).id, "rdma.no-answer");
}

TEST(RdmaFailure, OfPinningNamesTheLimitOfItsHost) {
  Document document =
      healthy().row(RowBuilder::failed("rdma-cannot-pin", "registering 8 MiB")).build();
  document = with(std::move(document), "h1", "rdma.memlock_bytes", whole(65536));
  const Finding finding = verdict_on(document);
  EXPECT_EQ(finding.class_id, "R13") << finding.id;
  EXPECT_EQ(finding.confidence, Confidence::confirmed);
  EXPECT_NE(finding.cause.find("64 KiB"), std::string::npos) << finding.cause;
}

struct Ended {
  const char* slug;
  const char* id;
};

class RdmaRow : public testing::TestWithParam<Ended> {};

TEST_P(RdmaRow, ThatEndedSoHasItsVerdict) {
  const Document document = healthy().row(RowBuilder::failed(GetParam().slug, "told so")).build();
  const Finding finding = verdict_on(document);
  EXPECT_EQ(finding.id, GetParam().id) << finding.cause;
  EXPECT_EQ(finding.severity, Severity::problem);
  EXPECT_FALSE(finding.remedy.empty());
  EXPECT_FALSE(finding.evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(Errors, RdmaRow,
                         testing::Values(Ended{"rdma-no-device", "rdma.not-available"},
                                         Ended{"rdma-no-library", "rdma.not-available"},
                                         Ended{"rdma-device-failed", "rdma.went-down"},
                                         Ended{"rdma-no-gid-pair", "rdma.gids-do-not-fit"},
                                         Ended{"rdma-qp-ready-to-receive", "rdma.no-route"},
                                         Ended{"rdma-receiver-not-ready",
                                               "rdma.receiver-gave-none"},
                                         Ended{"rdma-retry-exceeded", "rdma.no-answer"},
                                         Ended{"rdma-local-protection", "rdma.refused"},
                                         Ended{"rdma-remote-access", "rdma.refused"},
                                         Ended{"rdma-device-removed", "rdma.went-down"},
                                         Ended{"verbs-device-gone", "rdma.went-down"},
                                         Ended{"verbs-stalled", "rdma.no-answer"},
                                         Ended{"verbs-peer-closed", "rdma.peer-gone"},
                                         Ended{"verbs-data-mismatch", "rdma.wrong-contents"},
                                         Ended{"rdma-no-device-node", "rdma.not-available"},
                                         Ended{"rdma-cm-unreachable", "rdma.no-route"},
                                         Ended{"rdma-something-new", "rdma.failed"}));

}  // namespace
}  // namespace netbench::report::test
