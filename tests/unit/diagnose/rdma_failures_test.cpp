// The rules of RDMA that read errors.
#include <gtest/gtest.h>

#include "rdma_pair.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/diagnose/rdma_completion.hpp"

namespace netbench::report::test {
namespace {

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
