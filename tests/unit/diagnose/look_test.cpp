#include "report/diagnose/look.hpp"

#include <gtest/gtest.h>

#include "tests/unit/diagnose/builder.hpp"

namespace netbench::report {
namespace {

Document two_rounds(Direction direction) {
  Document document;
  HostInfo first{"nb-a", {}, {}, "eth0", {}};
  first.facts = {{"if.eth0.mtu_bytes", std::int64_t{9000}, "netlink", {}},
                 {"if.eth0.speed_bps", {}, "ioctl", "a veth pair has no wire"},
                 {"if.eth0.offload.tso", false, "ioctl", {}}};
  document.hosts = {{"h0", first}, {"h1", HostInfo{"nb-b", {}, {}, "eth1", {}}}};
  Measurement row;
  row.id = "row";
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = direction;
  row.rounds.resize(2);
  row.rounds[0].initiator.counters = {{"tcp_info.rtt_us", 10}, {"netstat.TCPTimeouts", 2}};
  row.rounds[1].initiator.counters = {{"tcp_info.rtt_us", 30}, {"netstat.Other", 1}};
  document.measurements = {row};
  return document;
}

Look look_at(const Document& document) { return {document, &document.measurements[0], {}}; }

TEST(Look, SumsDifferencesAndTakesTheMedianOfGauges) {
  const Document document = two_rounds(Direction::forward);
  Look look = look_at(document);
  EXPECT_EQ(look.total(End::sender, "netstat.TCPTimeouts"), 2);
  EXPECT_EQ(look.typical(End::sender, "tcp_info.rtt_us"), 20);
  EXPECT_EQ(look.largest(End::sender, "tcp_info.rtt_us"), 30);
}

TEST(Look, ReadsAbsentDifferencesAsZeroOnlyWhereTheirFileWasRead) {
  const Document document = two_rounds(Direction::forward);
  Look look = look_at(document);
  EXPECT_EQ(look.total(End::sender, "netstat.TCPRenoRecovery"), 0);
  EXPECT_EQ(look.total(End::sender, "softnet.dropped"), std::nullopt);
  EXPECT_EQ(look.total(End::sender, "tcp_info.min_rtt_us"), std::nullopt);
  EXPECT_EQ(look.total(End::receiver, "netstat.TCPTimeouts"), std::nullopt);
  EXPECT_EQ(look.missing().size(), 3u);
}

TEST(Look, NamesTheEndsByTheDirectionOfTheRow) {
  const Document forward = two_rounds(Direction::forward);
  const Document reverse = two_rounds(Direction::reverse);
  EXPECT_EQ(look_at(forward).host_name(End::sender), "nb-a");
  EXPECT_EQ(look_at(reverse).host_name(End::sender), "nb-b");
  EXPECT_EQ(look_at(reverse).total(End::receiver, "netstat.TCPTimeouts"), 2);
}

TEST(Look, PutsTheInterfaceOfTheEndForTheStar) {
  const Document document = two_rounds(Direction::forward);
  Look look = look_at(document);
  EXPECT_EQ(look.fact(End::sender, "if.*.mtu_bytes"), 9000);
  EXPECT_EQ(look.fact(End::sender, "if.*.offload.tso"), 0);
  EXPECT_EQ(look.evidence(), (std::vector<std::string>{"/hosts/h0/facts/0", "/hosts/h0/facts/2"}));
}

TEST(Look, SaysWhyAFactIsUnknown) {
  const Document document = two_rounds(Direction::forward);
  Look look = look_at(document);
  EXPECT_EQ(look.fact(End::sender, "if.*.speed_bps"), std::nullopt);
  ASSERT_EQ(look.missing().size(), 1u);
  EXPECT_EQ(look.missing()[0], "if.eth0.speed_bps of nb-a: a veth pair has no wire");
}

TEST(Look, CitesTheRoundWithTheLargestReading) {
  const Document document = two_rounds(Direction::forward);
  Look look = look_at(document);
  (void)look.typical(End::sender, "tcp_info.rtt_us");
  EXPECT_EQ(look.evidence(), std::vector<std::string>{
                                 "/measurements/0/rounds/1/counters/initiator/tcp_info.rtt_us"});
}

TEST(Look, FindsTheRowThatDiffersInOneTunableAlone) {
  Document document = two_rounds(Direction::forward);
  document.measurements.push_back(document.measurements[0]);
  document.measurements.push_back(document.measurements[0]);
  document.measurements[0].summary.goodput_bps = 1e9;
  document.measurements[1].id = "four";
  document.measurements[1].tunables.requested = {{"tcp.streams", std::int64_t{4}}};
  document.measurements[1].summary.goodput_bps = 3e9;
  document.measurements[2].id = "other";
  document.measurements[2].tunables.requested = {{"tcp.streams", std::int64_t{8}},
                                                 {"tcp.mss", std::int64_t{500}}};
  document.measurements[2].summary.goodput_bps = 2e9;
  Look look = look_at(document);
  EXPECT_EQ(look.sibling_ratio("tcp.streams", std::int64_t{4}), 3);
  EXPECT_EQ(look.sibling_ratio("tcp.streams", std::int64_t{8}), std::nullopt);
}

TEST(Look, TakesAutoAsNotAskedFor) {
  Document document = two_rounds(Direction::forward);
  document.measurements[0].tunables.requested = {{"tcp.rcvbuf", std::string("auto")},
                                                 {"tcp.sndbuf", std::int64_t{65536}}};
  const Look look = look_at(document);
  EXPECT_FALSE(look.asked_for("tcp.rcvbuf"));
  EXPECT_TRUE(look.asked_for("tcp.sndbuf"));
  EXPECT_FALSE(look.asked_for("tcp.mss"));
}

TEST(LookMoved, LeavesOutExperimentsWhoseBaseIsNotLikeTheRow) {
  Document document =
      test::DocumentBuilder().row(test::RowBuilder::stream(139e6)).moved("more-streams", 2).build();
  EXPECT_NE(look_at(document).moved("more-streams"), nullptr);
  document.interventions[0].base = 1.7e6;
  EXPECT_EQ(look_at(document).moved("more-streams"), nullptr);
}

}  // namespace
}  // namespace netbench::report
