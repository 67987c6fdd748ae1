#include "bench/facts/cable_test.hpp"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <random>

#include "bench/facts/ethtool_netlink.hpp"

namespace netbench::facts {
namespace {

using Bytes = std::vector<std::uint8_t>;

void append_byte(Bytes& body, std::uint16_t type, std::uint8_t value) {
  append_attribute(body, type, ByteSpan(&value, 1));
}

Bytes result(std::uint8_t pair, std::uint8_t code) {
  Bytes body;
  append_byte(body, ETHTOOL_A_CABLE_RESULT_PAIR, pair);
  append_byte(body, ETHTOOL_A_CABLE_RESULT_CODE, code);
  return body;
}

Bytes fault(std::uint8_t pair, std::uint32_t centimetres) {
  Bytes body;
  append_byte(body, ETHTOOL_A_CABLE_FAULT_LENGTH_PAIR, pair);
  append_attribute(body, ETHTOOL_A_CABLE_FAULT_LENGTH_CM, centimetres);
  return body;
}

/// A notice about eth1, as the kernel's ethnl_cable_test_finished() builds it.
Bytes notice(std::uint8_t status, const Bytes& results) {
  Bytes header;
  append_attribute(header, ETHTOOL_A_HEADER_DEV_NAME, std::string("eth1"));
  Bytes body;
  append_attribute(body, ETHTOOL_A_CABLE_TEST_NTF_HEADER | NLA_F_NESTED, ByteSpan(header));
  append_byte(body, ETHTOOL_A_CABLE_TEST_NTF_STATUS, status);
  append_attribute(body, ETHTOOL_A_CABLE_TEST_NTF_NEST | NLA_F_NESTED, ByteSpan(results));
  return body;
}

Bytes results_of_a_cut_pair() {
  Bytes nest;
  for (std::uint8_t pair = 0; pair < 4; ++pair) {
    append_attribute(nest, ETHTOOL_A_CABLE_NEST_RESULT | NLA_F_NESTED,
                     ByteSpan(result(pair, pair == 2 ? ETHTOOL_A_CABLE_RESULT_CODE_OPEN
                                                     : ETHTOOL_A_CABLE_RESULT_CODE_OK)));
  }
  append_attribute(nest, ETHTOOL_A_CABLE_NEST_FAULT_LENGTH | NLA_F_NESTED,
                   ByteSpan(fault(2, 1240)));
  return nest;
}

TEST(CableTest, ReadsEachPairAndHowFarItsFaultIs) {
  const Bytes body = notice(ETHTOOL_A_CABLE_TEST_NTF_STATUS_COMPLETED, results_of_a_cut_pair());
  EXPECT_EQ(cable_test_interface(body), "eth1");
  const auto pairs = parse_cable_test(body);
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 4U);
  EXPECT_EQ(pairs->at(0).name, 'a');
  EXPECT_EQ(pairs->at(0).status, "ok");
  EXPECT_FALSE(pairs->at(0).fault_m);
  EXPECT_EQ(pairs->at(2).status, "open");
  EXPECT_DOUBLE_EQ(pairs->at(2).fault_m.value_or(0), 12.4);
}

TEST(CableTest, IsNotOverWhileItRuns) {
  EXPECT_FALSE(parse_cable_test(notice(ETHTOOL_A_CABLE_TEST_NTF_STATUS_STARTED, {})));
  EXPECT_FALSE(parse_cable_test({}));
}

TEST(CableTest, BecomesFactsOfTheInterface) {
  const auto facts = cable_facts({{'a', "ok", {}}, {'c', "short to another pair", 3.5}});
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].key, "cable.pair_a");
  EXPECT_EQ(facts[1].value, Value(std::string("short to another pair")));
  EXPECT_EQ(facts[2].key, "cable.pair_c_fault_m");
  EXPECT_EQ(facts[2].value, Value(3.5));
}

TEST(CableTest, TellsAResultThatItDoesNotKnow) {
  Bytes nest;
  append_attribute(nest, ETHTOOL_A_CABLE_NEST_RESULT | NLA_F_NESTED, ByteSpan(result(1, 99)));
  const auto pairs = parse_cable_test(notice(ETHTOOL_A_CABLE_TEST_NTF_STATUS_COMPLETED, nest));
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->at(0).status, "result 99");
}

TEST(CableTest, SurvivesAnyBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 8000; ++i) {
    Bytes noise(random() % 64);
    for (auto& byte : noise) {
      byte = static_cast<std::uint8_t>(random());
    }
    const auto pairs = parse_cable_test(notice(ETHTOOL_A_CABLE_TEST_NTF_STATUS_COMPLETED, noise));
    ASSERT_TRUE(pairs);
    EXPECT_LE(pairs->size(), 5U);
  }
}

TEST(MulticastGroup, IsFoundByItsName) {
  Bytes groups;
  for (std::uint16_t i = 1; i <= 2; ++i) {
    Bytes group;
    append_attribute(group, CTRL_ATTR_MCAST_GRP_ID, std::uint32_t{10U + i});
    append_attribute(group, CTRL_ATTR_MCAST_GRP_NAME, std::string(i == 1 ? "other" : "monitor"));
    append_attribute(groups, i, ByteSpan(group));
  }
  Bytes body;
  append_attribute(body, CTRL_ATTR_MCAST_GROUPS, ByteSpan(groups));
  EXPECT_EQ(multicast_group(body, "monitor"), 12U);
  EXPECT_EQ(multicast_group(body, "absent"), 0U);
}

}  // namespace
}  // namespace netbench::facts
