// Answers of the kernel's form with any bytes in them: parsers must not fall over.
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>
#include <random>

#include "bench/facts/discipline.hpp"
#include "bench/facts/ethtool_netlink.hpp"
#include "bench/facts/firewall_reader.hpp"

namespace netbench::facts {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::mt19937& random, std::size_t most) {
  Bytes bytes(random() % (most + 1));
  std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

TEST(NetlinkDamage, LeavesADisciplineWithFewerParameters) {
  constexpr std::array kKinds{"tbf", "fq", "netem", "fq_codel", "cake", "htb", "pfifo", "bfifo"};
  std::mt19937 random(1);
  for (int i = 0; i < 8000; ++i) {
    Bytes body(sizeof(tcmsg));
    append_attribute(body, TCA_KIND, std::string(kKinds.at(static_cast<std::size_t>(i) % 8)));
    append_attribute(body, TCA_OPTIONS, ByteSpan(noise(random, 64)));
    body.resize(body.size() - std::min<std::size_t>(random() % 8, body.size()));
    EXPECT_LE(parse_discipline(body).parameters.size(), 6U);
  }
}

TEST(NetlinkDamage, LeavesAFirewallWithFewerRules) {
  std::mt19937 random(2);
  for (int i = 0; i < 4000; ++i) {
    std::vector<NetlinkMessage> messages;
    for (int message = 0; message < 3; ++message) {
      Bytes body(sizeof(nfgenmsg));
      append_attribute(body, NFTA_RULE_TABLE, std::string("t"));
      append_attribute(body, NFTA_CHAIN_HOOK, ByteSpan(noise(random, 24)));
      append_attribute(body, NFTA_RULE_EXPRESSIONS, ByteSpan(noise(random, 80)));
      messages.push_back({0, body});
    }
    EXPECT_LE(parse_firewall(messages, messages).size(), 3U);
  }
}

TEST(NetlinkDamage, LeavesALinkWithoutItsReason) {
  std::mt19937 random(3);
  for (int i = 0; i < 8000; ++i) {
    for (const auto& fact : link_state_facts(noise(random, 64))) {
      EXPECT_NE(fact.value, Value{}) << fact.key;
    }
  }
}

TEST(LinkState, SaysWhyALinkIsDown) {
  Bytes attributes;
  const std::uint8_t no_cable = 4;
  append_attribute(attributes, ETHTOOL_A_LINKSTATE_EXT_STATE, ByteSpan(&no_cable, 1));
  append_attribute(attributes, ETHTOOL_A_LINKSTATE_SQI, std::uint32_t{3});
  append_attribute(attributes, ETHTOOL_A_LINKSTATE_SQI_MAX, std::uint32_t{7});
  const auto facts = link_state_facts(attributes);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].value, Value(std::int64_t{3}));
  EXPECT_EQ(facts[1].value, Value(std::int64_t{7}));
  EXPECT_EQ(facts[2].key, "down_because");
  EXPECT_EQ(facts[2].value, Value(std::string("no cable")));
}

}  // namespace
}  // namespace netbench::facts
