#include <gtest/gtest.h>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

Verdict mtu(std::string_view id, const Document& document) {
  const auto rule = std::ranges::find(mtu_rules(), id, &Rule::id);
  return judge(mtu_rules(), id, document, row_of(rule->scope));
}

Document black_hole(const Value& same_subnet) {
  Document document = pair_with("path.same_subnet", same_subnet);
  document.run.path_mtu = {1500, 1500, "udp-df", "", true};
  return document;
}

TEST(MtuRules, AreSilentAboutAHealthyPair) {
  expect_all(mtu_rules(), healthy_pair(), Outcome::silent);
}

TEST(MtuRules, AreUnknownWithoutEvidence) {
  expect_all(mtu_rules(), without_evidence(), Outcome::unknown);
}

TEST(BlackHole, BehindARouterIsTheIcmpsFault) {
  const auto verdict = expect_fires(mtu_rules(), "mtu.black-hole-routed", black_hole(false));
  EXPECT_TRUE(mentions(verdict.remedy, "ICMP"));
  EXPECT_TRUE(mentions(verdict.remedy, "ip link set dev eth0 mtu 1500"));
  EXPECT_EQ(mtu("mtu.black-hole-switched", black_hole(false)).outcome, Outcome::silent);
}

TEST(BlackHole, InOneSubnetIsTheSwitchs) {
  const auto verdict = expect_fires(mtu_rules(), "mtu.black-hole-switched", black_hole(true));
  EXPECT_EQ(verdict.confidence, Confidence::confirmed);
  EXPECT_EQ(mtu("mtu.black-hole-routed", black_hole(true)).outcome, Outcome::silent);
}

TEST(BlackHole, IsNamedOnceWhereTheSubnetIsNotKnown) {
  expect_fires(mtu_rules(), "mtu.black-hole-switched", black_hole(Value{}));
  EXPECT_EQ(mtu("mtu.black-hole-routed", black_hole(Value{})).outcome, Outcome::unknown);
}

TEST(NoProgress, FiresOnAStreamThatStandsStill) {
  RowBuilder row = healthy_stream().sender({{"tcp_info_max.backoff", 3}});
  Document document = healthy_pair(row);
  document.measurements[0].summary.goodput_bps = 200;
  EXPECT_EQ(expect_fires(mtu_rules(), "mtu.no-progress", document).confidence, Confidence::likely);
}

TEST(SmallMtu, IsConfirmedByARowWithALargerOne) {
  Document document = healthy_pair();
  document.measurements[0].mtu_bytes = 1500;
  document.measurements.push_back(document.measurements[0]);
  document.measurements.back().id = "jumbo";
  document.measurements.back().mtu_bytes = 9000;
  document.measurements.back().summary.goodput_bps = 9e9;
  const auto verdict = expect_fires(mtu_rules(), "mtu.small", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed);
  EXPECT_NE(verdict.why.find("x 1.50"), std::string::npos) << verdict.why;
}

TEST(SmallMtu, FiresWhereACoreIsFull) {
  Document document = healthy_pair(healthy_stream().sending({.cpu = 0.98, .blocked = 0.02}));
  document = with_fact(std::move(document), "h0", "if.eth0.mtu_bytes", whole(1500));
  expect_fires(mtu_rules(), "mtu.small", document);
}

TEST(EndsDiffer, FiresInOneSubnet) {
  const auto verdict = expect_fires(mtu_rules(), "mtu.ends-differ",
                                    pair_with("h1", "if.eth0.mtu_bytes", whole(1500)));
  EXPECT_TRUE(mentions(verdict.remedy, "on nb-b: ip link set dev eth0 mtu 9000"));
}

TEST(EndsDiffer, IsLeftToRoutersBetweenSubnets) {
  Document document = pair_with("h1", "if.eth0.mtu_bytes", whole(1500));
  document = with_fact(std::move(document), "h0", "path.same_subnet", false);
  EXPECT_EQ(mtu("mtu.ends-differ", document).outcome, Outcome::silent);
}

TEST(Fragments, FireOnPacketsCutOnTheWay) {
  expect_fires(mtu_rules(), "mtu.fragments",
               healthy_pair(healthy_stream().sender({{"snmp.Ip.FragCreates", 8000}})));
}

Document overlay(std::int64_t own, std::int64_t under) {
  Document document = pair_with("h0", "if.eth0.tunnel_overhead_bytes", whole(50));
  document = with_fact(std::move(document), "h0", "if.eth0.lower.0", text("ens1"));
  document = with_fact(std::move(document), "h0", "if.ens1.mtu_bytes", whole(under));
  return with_fact(std::move(document), "h0", "if.eth0.mtu_bytes", whole(own));
}

TEST(Overlay, FiresWherePacketsDoNotFitTheUnderlay) {
  const auto verdict = expect_fires(mtu_rules(), "mtu.overlay", overlay(1500, 1500));
  EXPECT_TRUE(mentions(verdict.remedy, "ip link set dev eth0 mtu 1450"));
}

TEST(Overlay, FiresWhereItWastesAJumboUnderlay) {
  expect_fires(mtu_rules(), "mtu.overlay", overlay(1450, 9001));
}

TEST(Overlay, IsSeenBesideTheInterfaceOfTheTest) {
  Document document = pair_with("h0", "if.vxlan7.tunnel_overhead_bytes", whole(50));
  document = with_fact(std::move(document), "h0", "if.vxlan7.lower.0", text("eth0"));
  document = with_fact(std::move(document), "h0", "if.vxlan7.mtu_bytes", whole(9000));
  const auto verdict = expect_fires(mtu_rules(), "mtu.overlay", document);
  EXPECT_TRUE(mentions(verdict.remedy, "ip link set dev vxlan7 mtu 8950"));
}

Document behind_a_port(std::int64_t largest_frame) {
  Document document = pair_with("h0", "if.eth0.lldp.max_frame_bytes", whole(largest_frame));
  document = with_fact(std::move(document), "h0", "if.eth0.lldp.system", text("leaf-4a"));
  document = with_fact(std::move(document), "h0", "if.eth0.lldp.port", text("Ethernet1/17"));
  document.run.path_mtu = {};
  return document;
}

TEST(SwitchPort, FiresWhereItTakesLessThanAFullFrame) {
  const auto verdict = expect_fires(mtu_rules(), "mtu.switch-port", behind_a_port(1522));
  EXPECT_EQ(verdict.confidence, Confidence::possible);
  EXPECT_TRUE(mentions(verdict.remedy, "raise the MTU of port Ethernet1/17 of leaf-4a"));
  EXPECT_TRUE(mentions(verdict.remedy, "ip link set dev eth0 mtu 1504"));
}

TEST(SwitchPort, IsNotBelievedWhereFullPacketsPass) {
  Document document = behind_a_port(1522);
  document.run.path_mtu = {9000, 9000, "udp-df", "", false};
  EXPECT_EQ(mtu("mtu.switch-port", document).outcome, Outcome::silent);
}

TEST(SwitchPort, IsSilentWhereFullFramesFit) {
  EXPECT_EQ(mtu("mtu.switch-port", behind_a_port(9018)).outcome, Outcome::silent);
}

TEST(Overlay, IsSilentWhereItFits) {
  EXPECT_EQ(mtu("mtu.overlay", overlay(8950, 9000)).outcome, Outcome::silent);
}

TEST(Roce, FiresOnASmallPathMtuUnderASmallInterfaceMtu) {
  Document document = pair_with("h0", "rdma.mlx5_0.active_mtu_bytes", whole(1024));
  document = with_fact(std::move(document), "h0", "if.eth0.mtu_bytes", whole(1500));
  const auto verdict = expect_fires(mtu_rules(), "mtu.roce", document);
  EXPECT_TRUE(mentions(verdict.remedy, "mtu 4200"));
}

}  // namespace
}  // namespace netbench::report
