#include <gtest/gtest.h>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

Verdict expect_link(std::string_view id, const Document& document) {
  return expect_fires(link_rules(), id, document);
}

Verdict link(std::string_view id, const Document& document) {
  const auto rule = std::ranges::find(link_rules(), id, &Rule::id);
  return judge(link_rules(), id, document, row_of(rule->scope));
}

TEST(LinkRules, AreSilentAboutAHealthyPair) {
  for (const Rule& rule : link_rules()) {
    if (rule.id != "link.full-of-datagrams") {  // the row of datagrams has no known ceiling
      EXPECT_EQ(link(rule.id, healthy_pair()).outcome, Outcome::silent)
          << rule.id << ": " << link(rule.id, healthy_pair()).why;
    }
  }
}

TEST(LinkRules, AreUnknownWithoutEvidence) {
  expect_all(link_rules(), without_evidence(), Outcome::unknown);
}

TEST(LinkFull, FiresAtTheCeilingOfTheWire) {
  const auto verdict = expect_link("link.full", healthy_pair(healthy_stream().ceiling(6.05e9)));
  EXPECT_NEAR(verdict.nearness, 0.99, 0.01);
}

TEST(LinkFull, IsUnknownAboveWhatTheWireCanDo) {
  EXPECT_EQ(link("link.full", healthy_pair(healthy_stream().ceiling(5e9))).outcome,
            Outcome::unknown);
}

TEST(NegotiatedSpeed, FiresBelowTheFastestTheCardSupports) {
  const auto verdict =
      expect_link("link.speed", pair_with("h1", "if.eth0.speed_bps", whole(kGiga)));
  EXPECT_NE(verdict.cause.find("nb-b's eth0 runs at 1.000 Gb/s of 10.00 Gb/s"), std::string::npos)
      << verdict.cause;
}

TEST(NegotiatedSpeed, NamesAutoNegotiationWhereItIsOff) {
  Document document = pair_with("h0", "if.eth0.speed_bps", whole(kGiga / 10));
  document = with_fact(std::move(document), "h0", "if.eth0.autonegotiation", false);
  const auto verdict = expect_link("link.speed", document);
  EXPECT_TRUE(mentions(verdict.remedy, "ethtool -s eth0 autoneg on"));
}

TEST(NegotiatedSpeed, FiresOnADownshiftAlone) {
  Document document = pair_with("h0", "if.eth0.downshift", true);
  EXPECT_NE(expect_link("link.speed", document).cause.find("cable"), std::string::npos);
}

TEST(HalfDuplex, Fires) {
  expect_link("link.half-duplex", pair_with("h0", "if.eth0.duplex", text("half")));
}

TEST(Collisions, Fire) {
  expect_link("link.collisions",
              healthy_pair(healthy_stream().sender({{"if.eth0.collisions", 40}})));
}

TEST(Plane, FiresWhereBothHostsHaveAFasterInterface) {
  Document document = pair_with("if.ib0.speed_bps", whole(100 * kGiga));
  const auto verdict = expect_link("link.plane", document);
  EXPECT_NE(verdict.cause.find("ib0"), std::string::npos);
}

TEST(Plane, IsSilentWhereOneHostAloneIsFaster) {
  EXPECT_EQ(link("link.plane", pair_with("h0", "if.ib0.speed_bps", whole(100 * kGiga))).outcome,
            Outcome::silent);
}

TEST(Plane, DoesNotTakeItsOwnDeviceForAnother) {
  Document document = pair_with("if.eth0.stack", text("bond0 > eth0,eth1"));
  document = with_fact(std::move(document), "h0", "if.eth1.speed_bps", whole(100 * kGiga));
  document = with_fact(std::move(document), "h1", "if.eth1.speed_bps", whole(100 * kGiga));
  EXPECT_EQ(link("link.plane", document).outcome, Outcome::silent);
}

TEST(Plane, FiresWhereTrafficFellOverToWireless) {
  Document document = pair_with("h0", "if.eth0.wireless", true);
  document = with_fact(std::move(document), "h0", "if.eth1.carrier", false);
  EXPECT_NE(expect_link("link.plane", document).cause.find("eth1"), std::string::npos);
}

TEST(Plane, FiresWhereARouteLeadsPastTheSubnetOfThePeer) {
  const auto verdict =
      expect_link("link.plane", pair_with("h0", "path.subnet_interface", text("ib0")));
  EXPECT_EQ(verdict.confidence, Confidence::confirmed);
  EXPECT_EQ(verdict.cause,
            "the route of nb-a to 192.168.1.101 leaves by eth0, though nb-b is in the subnet of "
            "ib0");
}

TEST(OtherInterface, FiresWhereTheCountedBytesAreNotThePayloads) {
  expect_link("link.other-interface",
              healthy_pair(healthy_stream().receiver({{"if.eth0.rx_bytes", 1e6}})));
}

TEST(EnergySaving, IsANoteOfTheHostsAndALimitWhereTheTailShowsIt) {
  Document document = pair_with("h0", "if.eth0.eee.enabled", true);
  expect_link("link.energy-saving", document);
  EXPECT_EQ(link("link.energy-steps", document).outcome, Outcome::silent);
  document.measurements[1].summary.rtt_p99_ns = 60e3;
  expect_link("link.energy-steps", document);
}

TEST(DimLight, FiresBelowTheModulesOwnAlarm) {
  const Document document = pair_with("h1", "if.eth0.module.rx_power_dbm", -17.2);
  expect_link("link.dim-light", document);
}

TEST(DimLight, NamesThePortOfTheSwitchWhereItIsKnown) {
  Document document = pair_with("h1", "if.eth0.module.rx_power_dbm", -17.2);
  auto& facts = document.hosts["h1"].facts;
  facts.push_back({"if.eth0.lldp.system", std::string("leaf-4a"), "test", {}});
  facts.push_back({"if.eth0.lldp.port", std::string("Ethernet1/17"), "test", {}});
  EXPECT_EQ(link("link.dim-light", document).remedy.back(),
            "read the transmit power of port Ethernet1/17 of leaf-4a");
}

TEST(DimLight, KnowsDarknessWithoutAnAlarm) {
  Document document = pair_with("h1", "if.eth0.module.rx_power_min_dbm", Value{});
  EXPECT_EQ(link("link.dim-light", document).outcome, Outcome::silent);
  document = pair_with("h1", "if.eth0.module.rx_power_dbm", -40.0);
  expect_link("link.dim-light", document);
}

TEST(CablePair, FiresOnAPairThatIsOpenAndSaysWhere) {
  Document document = pair_with("h0", "if.eth0.cable.pair_c", text("open"));
  document = with_fact(std::move(document), "h0", "if.eth0.cable.pair_c_fault_m", 12.4);
  const auto verdict = expect_fires(link_rules(), "link.cable-pair", document);
  EXPECT_EQ(verdict.confidence, Confidence::confirmed);
  EXPECT_EQ(verdict.cause, "a pair of the cable is bad: nb-a's eth0: pair c open at 12.4 m");
}

TEST(CarrierHistory, FiresOnManyChangesBeforeTheRun) {
  expect_link("link.carrier-history", pair_with("h0", "if.eth0.carrier_changes", whole(87)));
}

TEST(DriverVersions, FireWhereTheSameCardHasAnother) {
  const auto verdict =
      expect_link("link.driver", pair_with("h1", "if.eth0.firmware", text("14.20.0001")));
  EXPECT_NE(verdict.cause.find("14.20.0001"), std::string::npos);
}

TEST(DriverVersions, OfDifferentCardsDoNotCompare) {
  Document document = pair_with("h1", "if.eth0.driver", text("ice"));
  document = with_fact(std::move(document), "h1", "if.eth0.firmware", text("3.0"));
  EXPECT_EQ(link("link.driver", document).outcome, Outcome::silent);
}

TEST(LinkRules, AreUnknownAboutTheSpeedOfAVirtualWire) {
  EXPECT_EQ(link("link.speed", pair_with("if.eth0.speed_bps", Value{})).outcome, Outcome::unknown);
}

}  // namespace
}  // namespace netbench::report
