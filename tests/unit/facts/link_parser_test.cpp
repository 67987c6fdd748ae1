#include "bench/facts/link_parser.hpp"

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <random>

#include "bench/facts/device_stack.hpp"

namespace netbench::facts {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Attributes as the kernel lays them out.
class Nest {
 public:
  template <class T>
  Nest& number(std::uint16_t type, T value) {
    append_attribute(bytes_, type, ByteSpan(reinterpret_cast<std::uint8_t*>(&value), sizeof(T)));
    return *this;
  }
  Nest& text(std::uint16_t type, const std::string& value) {
    append_attribute(bytes_, type, value);
    return *this;
  }
  Nest& bytes(std::uint16_t type, const Bytes& value) {
    append_attribute(bytes_, type, ByteSpan(value));
    return *this;
  }
  Nest& nest(std::uint16_t type, const Nest& inner) { return bytes(type, inner.bytes_); }
  [[nodiscard]] Bytes message(int index) const {
    ifinfomsg header{};
    header.ifi_index = index;
    Bytes body(sizeof(header));
    std::memcpy(body.data(), &header, sizeof(header));
    body.insert(body.end(), bytes_.begin(), bytes_.end());
    return body;
  }

 private:
  Bytes bytes_;
};

Nest bond() {
  const Nest lacp = Nest()
                        .number<std::uint16_t>(IFLA_BOND_AD_INFO_AGGREGATOR, 1)
                        .number<std::uint16_t>(IFLA_BOND_AD_INFO_NUM_PORTS, 2)
                        .bytes(IFLA_BOND_AD_INFO_PARTNER_MAC, {2, 0, 0, 0xAA, 0xBB, 0});
  const Nest data = Nest()
                        .number<std::uint8_t>(IFLA_BOND_MODE, 4)
                        .number<std::uint8_t>(IFLA_BOND_XMIT_HASH_POLICY, 1)
                        .number<std::uint8_t>(IFLA_BOND_AD_LACP_RATE, 1)
                        .nest(IFLA_BOND_AD_INFO, lacp);
  return Nest()
      .text(IFLA_IFNAME, "bond0")
      .number<std::uint32_t>(IFLA_MTU, 9000)
      .nest(IFLA_LINKINFO, Nest().text(IFLA_INFO_KIND, "bond").nest(IFLA_INFO_DATA, data));
}

TEST(LinkParser, ReadsABondAndItsPartner) {
  const LinkInfo link = parse_link(bond().message(5));
  EXPECT_EQ(link.name, "bond0");
  EXPECT_EQ(link.index, 5);
  EXPECT_EQ(link.mtu_bytes, 9000);
  const NamedValues expected{
      {"mode", std::string("802.3ad")},   {"xmit_hash_policy", std::string("layer3+4")},
      {"lacp_rate", std::string("fast")}, {"aggregator_id", std::int64_t{1}},
      {"ports", std::int64_t{2}},         {"partner_mac", std::string("02:00:00:aa:bb:00")}};
  EXPECT_EQ(link.details, expected);
}

TEST(LinkParser, ReadsWhatABondKnowsOfAMember) {
  const Nest data = Nest()
                        .number<std::uint8_t>(IFLA_BOND_SLAVE_STATE, 1)
                        .number<std::uint8_t>(IFLA_BOND_SLAVE_MII_STATUS, 2)
                        .number<std::uint32_t>(IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, 7)
                        .number<std::uint16_t>(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, 2);
  const LinkInfo link = parse_link(
      Nest()
          .nest(IFLA_LINKINFO,
                Nest().text(IFLA_INFO_SLAVE_KIND, "bond").nest(IFLA_INFO_SLAVE_DATA, data))
          .message(4));
  EXPECT_EQ(*find_value(link.member_details, "state"), Value(std::string("backup")));
  EXPECT_EQ(*find_value(link.member_details, "mii_up"), Value(false));
  EXPECT_EQ(integer_of(link.member_details, "link_failures"), 7);
  EXPECT_EQ(integer_of(link.member_details, "aggregator_id"), 2);
}

TEST(LinkParser, ReadsTheNumberOfAVlanAndWhatItIsOn) {
  const LinkInfo link = parse_link(
      Nest()
          .number<std::uint32_t>(IFLA_LINK, 3)
          .nest(IFLA_LINKINFO,
                Nest()
                    .text(IFLA_INFO_KIND, "vlan")
                    .nest(IFLA_INFO_DATA, Nest().number<std::uint16_t>(IFLA_VLAN_ID, 100)))
          .message(6));
  EXPECT_EQ(link.lower_index, 3);
  EXPECT_EQ(integer_of(link.details, "id"), 100);
}

TEST(LinkParser, KnowsNoOtherEndInAnotherNamespace) {
  const LinkInfo link = parse_link(Nest()
                                       .number<std::uint32_t>(IFLA_LINK, 3)
                                       .number<std::int32_t>(IFLA_LINK_NETNSID, 0)
                                       .message(6));
  EXPECT_EQ(link.lower_index, 0);
}

TEST(LinkParser, SurvivesEveryTruncationAndAnyDamage) {
  const Bytes whole = bond().message(5);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    EXPECT_LE(parse_link(ByteSpan(whole).first(size)).details.size(), 6U);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    Bytes damaged = whole;
    damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    EXPECT_LE(parse_link(damaged).details.size(), 16U);
  }
}

LinkInfo device(int index, const std::string& name, const std::string& kind = "", int lower = 0,
                int master = 0) {
  LinkInfo link;
  link.index = index;
  link.name = name;
  link.kind = kind;
  link.lower_index = lower;
  link.master_index = master;
  return link;
}

TEST(DeviceStack, GoesDownThroughVlanAndBondToThePorts) {
  const std::vector<LinkInfo> all{device(1, "eth0", "", 0, 3), device(2, "eth1", "", 0, 3),
                                  device(3, "bond0", "bond"), device(4, "bond0.5", "vlan", 3)};
  const auto stack = device_stack(all[3], all);
  EXPECT_EQ(stack_text(stack), "bond0.5 > bond0 > eth0,eth1");
  EXPECT_EQ(tunnel_overhead_bytes(stack), 0);
}

TEST(DeviceStack, EndsAtAVethPairAndInACircle) {
  std::vector<LinkInfo> all{device(1, "va", "veth", 2), device(2, "vb", "veth", 1)};
  EXPECT_EQ(stack_text(device_stack(all[0], all)), "va");
  all = {device(1, "a", "vlan", 2), device(2, "b", "vlan", 1)};
  EXPECT_EQ(stack_text(device_stack(all[0], all)), "a > b");
}

TEST(DeviceStack, AddsUpTheTunnels) {
  std::vector<LinkInfo> all{device(1, "eth0"), device(2, "wg0", "wireguard", 1),
                            device(3, "vx", "vxlan", 2)};
  EXPECT_EQ(tunnel_overhead_bytes(device_stack(all[2], all)), 50 + 60);
  all[2].details = {{"over_ipv6", true}};
  EXPECT_EQ(tunnel_overhead_bytes(device_stack(all[2], all)), 70 + 60);
}

}  // namespace
}  // namespace netbench::facts
