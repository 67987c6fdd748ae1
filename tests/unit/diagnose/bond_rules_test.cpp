#include <gtest/gtest.h>

#include "static_pair.hpp"

namespace netbench::report {
namespace {

using namespace test;

constexpr const char* kHost = "h0";

/// The healthy pair with a bond of two 10 Gb/s members on nb-a.
Document bonded(const RowBuilder& row = healthy_stream()) {
  Document document = healthy_pair(row);
  const std::initializer_list<std::pair<const char*, Value>> facts = {
      {"bond.bond0.mode", text("802.3ad")},
      {"bond.bond0.partner_mac", text("0c:42:a1:00:00:01")},
      {"bond.bond0.members", text("eth1,eth2")},
      {"bond.bond0.eth1.mii_up", true},
      {"bond.bond0.eth2.mii_up", true},
      {"bond.bond0.eth1.aggregator_id", whole(1)},
      {"bond.bond0.eth2.aggregator_id", whole(1)},
      {"bond.bond0.eth1.speed_bps", whole(10 * kGiga)},
      {"bond.bond0.eth2.speed_bps", whole(10 * kGiga)}};
  for (const auto& [key, value] : facts) {
    document = with_fact(std::move(document), kHost, key, value);
  }
  return document;
}

Document bonded_with(const std::string& key, const Value& value) {
  return with_fact(bonded(), kHost, key, value);
}

Verdict bond(std::string_view id, const Document& document) {
  const auto rule = std::ranges::find(bond_rules(), id, &Rule::id);
  return judge(bond_rules(), id, document, row_of(rule->scope));
}

TEST(BondRules, AreSilentWithAndWithoutAHealthyBond) {
  expect_all(bond_rules(), healthy_pair(), Outcome::silent);
  expect_all(bond_rules(), bonded(), Outcome::silent);
}

TEST(BondRules, AreUnknownWithoutEvidence) {
  expect_all(bond_rules(), without_evidence(), Outcome::unknown);
}

TEST(BondHash, FiresWhereOneMemberCarriesSeveralFlows) {
  const auto verdict =
      expect_fires(bond_rules(), "bond.hash",
                   bonded(healthy_stream()
                              .effective("tcp.streams", whole(8))
                              .sender({{"if.eth1.tx_bytes", 3.7e9}, {"if.eth2.tx_bytes", 1e6}})));
  EXPECT_TRUE(mentions(verdict.remedy, "xmit_hash_policy layer3+4"));
}

TEST(BondHash, FiresWhereOneFlowFillsItsMember) {
  Document document = bonded();
  document.measurements[0].summary.goodput_bps = 9.7e9;
  const auto verdict = expect_fires(bond_rules(), "bond.hash", document);
  EXPECT_TRUE(mentions(verdict.remedy, "--tcp.streams"));
}

TEST(BondMember, ThatIsDownIsNamed) {
  const auto verdict =
      expect_fires(bond_rules(), "bond.member-down", bonded_with("bond.bond0.eth2.mii_up", false));
  EXPECT_NE(verdict.cause.find("eth2 is down"), std::string::npos);
  EXPECT_NE(verdict.cause.find("1 of 2"), std::string::npos) << verdict.cause;
}

TEST(BondMembers, DifferInSpeedOrAggregator) {
  expect_fires(bond_rules(), "bond.members-differ",
               bonded_with("bond.bond0.eth2.speed_bps", whole(kGiga)));
  expect_fires(bond_rules(), "bond.members-differ",
               bonded_with("bond.bond0.eth2.aggregator_id", whole(2)));
}

TEST(BondPartner, FiresWhereNobodyAnswersLacp) {
  expect_fires(bond_rules(), "bond.no-partner",
               bonded_with("bond.bond0.partner_mac", text("00:00:00:00:00:00")));
}

TEST(BondPartner, IsNotMissedInAnotherMode) {
  Document document = bonded_with("bond.bond0.partner_mac", text("00:00:00:00:00:00"));
  document = with_fact(std::move(document), kHost, "bond.bond0.mode", text("active-backup"));
  EXPECT_EQ(bond("bond.no-partner", document).outcome, Outcome::silent);
}

TEST(BondReorders, FiresOnRoundRobinWithReordering) {
  Document document = bonded(healthy_stream().sender({{"tcp_info.reord_seen", 5000}}));
  EXPECT_EQ(bond("bond.reorders", document).outcome, Outcome::silent);
  document = with_fact(std::move(document), kHost, "bond.bond0.mode", text("balance-rr"));
  expect_fires(bond_rules(), "bond.reorders", document);
}

}  // namespace
}  // namespace netbench::report
