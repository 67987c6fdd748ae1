#include <gtest/gtest.h>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

Verdict expect_link(std::string_view id, const RowBuilder& row) {
  return expect_fires(link_rules(), id, healthy_pair(row));
}

Verdict link(std::string_view id, const Document& document, int row = 0) {
  return judge(link_rules(), id, document, row);
}

TEST(BitErrors, FireOnDamagedFrames) {
  const auto verdict =
      expect_link("link.bit-errors", healthy_stream().receiver({{"if.eth0.rx_crc_errors", 12}}));
  EXPECT_NE(verdict.cause.find("rx_crc_errors 12"), std::string::npos);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
}

TEST(BitErrors, CountWhatADriverRepeatsOnce) {
  const auto verdict = expect_link(
      "link.bit-errors", healthy_stream().receiver(
                             {{"if.eth0.rx_crc_errors", 12}, {"ethtool.eth0.rx_crc_errors", 12}}));
  EXPECT_NE(verdict.why.find("2.9e-05 of frames"), std::string::npos) << verdict.why;
}

TEST(BitErrors, AreInformationWhereTheyAreOneInABillion) {
  const auto verdict = expect_link(
      "link.bit-errors",
      healthy_stream().receiver({{"if.eth0.rx_crc_errors", 1}, {"if.eth0.rx_packets", 1e9}}));
  EXPECT_EQ(verdict.severity, Severity::info);
}

TEST(Fec, FiresOnBlocksItCouldNotCorrect) {
  expect_link("link.fec",
              healthy_stream().receiver({{"ethtool.eth0.rx_pcs_fec_uncorrectable", 3}}));
}

TEST(Flaps, FireOnALinkThatWentDownDuringTheRow) {
  expect_link("link.flaps", healthy_stream().sender({{"ethtool.eth0.link_down_events_phy", 1}}));
}

TEST(ReceiveRing, FiresOnLostFramesAndNamesTheLargestRing) {
  const auto verdict = expect_link("link.receive-ring",
                                   healthy_stream().receiver({{"if.eth0.rx_missed_errors", 900}}));
  EXPECT_TRUE(mentions(verdict.remedy, "ethtool -G eth0 rx 8192"));
}

TEST(ReceiveRing, LeavesALargestRingAlone) {
  Document document = healthy_pair(healthy_stream().receiver({{"if.eth0.rx_missed_errors", 900}}));
  document = with_fact(std::move(document), "h1", "if.eth0.ring.rx_descriptors", whole(8192));
  const auto verdict = link("link.receive-ring", document);
  EXPECT_EQ(verdict.confidence, Confidence::possible);
  EXPECT_FALSE(mentions(verdict.remedy, "ethtool -G"));
}

TEST(Pauses, FireOnWhatTheSenderIsToldAndOnWhatTheReceiverTells) {
  const auto told = expect_link(
      "link.pauses", healthy_stream().sender({{"ethtool.eth0.rx_prio3_pause", 5000},
                                              {"ethtool.eth0.rx_prio3_pause_duration", 250'000}}));
  EXPECT_EQ(told.confidence, Confidence::likely);
  EXPECT_NE(told.why.find("5.0 % of the time"), std::string::npos) << told.why;
  const auto tells = expect_link(
      "link.pauses", healthy_stream().receiver({{"ethtool.eth0.tx_pause_ctrl_phy", 5000}}));
  EXPECT_NE(tells.cause.find("receive path is late"), std::string::npos);
}

TEST(Pauses, OfAFewFramesAreNothing) {
  const auto document =
      healthy_pair(healthy_stream().sender({{"ethtool.eth0.rx_pause_ctrl_phy", 7}}));
  EXPECT_EQ(link("link.pauses", document).outcome, Outcome::silent);
}

TEST(QueueDrops, FireOnTheSendersQueue) {
  expect_link("link.queue-drops", healthy_stream().sender({{"qdisc.eth0.drops", 2000}}));
}

TEST(QueueDrops, AreTheShapersWhereThereIsOne) {
  const auto document = healthy_pair(
      healthy_stream().sender({{"qdisc.eth0.drops", 2000}, {"qdisc.eth0.overlimits", 2e5}}));
  EXPECT_EQ(link("link.queue-drops", document).outcome, Outcome::silent);
}

TEST(Shaper, FiresOnOverlimitsAndIsNearItsRate) {
  Document document = healthy_pair(healthy_stream().sender({{"qdisc.eth0.overlimits", 2e5}}));
  document = with_fact(std::move(document), "h0", "qdisc.eth0.kind", text("tbf"));
  document = with_fact(std::move(document), "h0", "qdisc.eth0.rate_bps", whole(6'300'000'000));
  const auto verdict = expect_fires(link_rules(), "link.shaper", document);
  EXPECT_GT(verdict.nearness, 0.98);
  EXPECT_TRUE(mentions(verdict.remedy, "tc qdisc del dev eth0 root"));
}

TEST(Shaper, IsNotTheQueueBeforeAPacedOrFullDevice) {
  const auto document =
      healthy_pair(healthy_stream().sender({{"qdisc_max.eth0.backlog_bytes", 3e6}}));
  EXPECT_EQ(link("link.shaper", document).outcome, Outcome::silent);
}

TEST(CloudAllowance, FiresOnTheInstancesOwnCounter) {
  expect_link("link.cloud-allowance",
              healthy_stream().sender({{"ethtool.eth0.bw_out_allowance_exceeded", 5000}}));
}

TEST(OffloadOff, FiresWhereACoreIsFull) {
  Document document = healthy_pair(healthy_stream().sending({.cpu = 0.98, .blocked = 0.02}));
  document = with_fact(std::move(document), "h0", "if.eth0.offload.tso", false);
  document = with_fact(std::move(document), "h0", "if.eth0.offload.gso", false);
  const auto verdict = expect_fires(link_rules(), "link.offload-off", document);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
  EXPECT_TRUE(mentions(verdict.remedy, "ethtool -K eth0 tso on gso on"));
}

TEST(OffloadOff, IsANoteWhereNoCoreIsFull) {
  Document document = pair_with("h0", "if.eth0.offload.tso", false);
  document = with_fact(std::move(document), "h0", "if.eth0.offload.gso", false);
  document = with_fact(std::move(document), "h0", "if.eth0.offload.tx_checksum", false);
  const auto verdict = expect_fires(link_rules(), "link.offload-off", document);
  EXPECT_EQ(verdict.confidence, Confidence::possible);
  EXPECT_EQ(verdict.severity, Severity::info);
  EXPECT_LT(verdict.nearness, 0.6);
}

TEST(OffloadOff, IsSilentWhereCoresAreFreeOnASlowLink) {
  const auto document = pair_with("h1", "if.eth0.offload.gro", false);
  EXPECT_EQ(link("link.offload-off", document).outcome, Outcome::silent);
}

TEST(OffloadOff, IsSilentWhereSuperPacketsPassAllTheSame) {
  const auto merged = [](double packets) {
    Document document = healthy_pair(healthy_stream()
                                         .receiving({.cpu = 0.98, .blocked = 0.02})
                                         .receiver({{"if.eth0.rx_packets", packets}}));
    document = with_fact(std::move(document), "h1", "if.eth0.offload.gro", false);
    return with_fact(std::move(document), "h1", "if.eth0.offload.lro", false);
  };
  expect_fires(link_rules(), "link.offload-off", merged(4.2e5));
  EXPECT_EQ(link("link.offload-off", merged(6e4)).outcome, Outcome::silent);
}

RowBuilder with_damage(double checksums, double retransmits) {
  return healthy_stream()
      .receiver({{"snmp.Tcp.InCsumErrors", checksums}})
      .sender({{"tcp_info.total_retrans", retransmits}});
}

TEST(ChecksumOffload, FiresWhereChecksumsAreTheLosses) {
  const auto verdict = expect_link("link.checksum-offload", with_damage(72, 72));
  EXPECT_TRUE(mentions(verdict.remedy, "ethtool -K eth0 rx off"));
}

TEST(ChecksumOffload, IsSilentWhereMostLossesAreOthers) {
  EXPECT_EQ(link("link.checksum-offload", healthy_pair(with_damage(3, 72))).outcome,
            Outcome::silent);
}

TEST(ChecksumOffload, NeedsACardThatComputesChecksums) {
  Document document = healthy_pair(with_damage(72, 72));
  for (const char* host : {"h0", "h1"}) {
    document = with_fact(std::move(document), host, "if.eth0.driver", text("veth"));
  }
  EXPECT_EQ(link("link.checksum-offload", document).outcome, Outcome::silent);
}

TEST(ReceiveOffload, FiresOnAWindowBelowOneSegmentDespiteRoom) {
  Document document = healthy_pair(healthy_stream().sender({{"tcp_info_max.snd_wnd", 720}}));
  document = with_fact(std::move(document), "h1", "if.eth0.offload.lro", true);
  expect_fires(link_rules(), "link.receive-offload", document);
}

TEST(Coalescing, FiresWhereTheDelayIsTheRoundTrip) {
  expect_fires(link_rules(), "link.coalescing", pair_with("if.eth0.coalesce.rx_us", whole(12)));
}

}  // namespace
}  // namespace netbench::report
