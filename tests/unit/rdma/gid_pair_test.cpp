#include "transports/rdma/gid_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/rdma/gids.hpp"

namespace netbench::rdma {
namespace {

GidOffer offer(std::vector<GidEntry> gids, const std::string& device = "rxe0") {
  GidOffer made;
  made.port = port_of(device, std::move(gids));
  return made;
}

/// What rxe shows on each host of the lab: link-local, IPv4, IPv6.
GidOffer lab_host(const std::string& last) {
  return offer({entry(0, "fe80::5054:ff:fe77:" + last, 64), entry(1, "10.77.0." + last, 24),
                entry(2, "fd77::" + last, 64)});
}

bool refuses(const GidPair& pair, std::uint32_t first, std::uint32_t second,
             const std::string& reason) {
  return std::ranges::any_of(pair.refused, [&](const RefusedPair& refused) {
    return refused.first_index == first && refused.second_index == second &&
           refused.reason.find(reason) != std::string::npos;
  });
}

TEST(GidPair, IsIpv4OfOneSubnetFirst) {
  const auto pair = choose_gid_pair(lab_host("1"), lab_host("2"));
  ASSERT_TRUE(pair) << pair.error().message();
  EXPECT_EQ(pair->first.index, 1U);
  EXPECT_EQ(pair->second.index, 1U);
  EXPECT_EQ(pair->reason, "RoCE v2, IPv4, same subnet");
  EXPECT_TRUE(refuses(*pair, 2, 2, "comes after it: RoCE v2, IPv6"));
  EXPECT_TRUE(refuses(*pair, 1, 2, "IPv4 against IPv6"));
}

TEST(GidPair, HasAnIndexOfItsOwnOnEachHost) {
  const GidOffer first = offer({entry(3, "10.0.0.1", 24)});
  const GidOffer second = offer({entry(0, "fe80::2", 64), entry(7, "10.0.0.2", 24)});
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first.index, 3U);
  EXPECT_EQ(pair->second.index, 7U);
}

TEST(GidPair, IsTheSameSeenFromTheOtherEnd) {
  const GidOffer first =
      offer({entry(0, "10.1.0.1", 24), entry(1, "10.2.0.1", 24), entry(2, "fd77::1", 64)});
  const GidOffer second =
      offer({entry(0, "10.2.0.2", 24), entry(1, "10.1.0.2", 24), entry(2, "fd77::2", 64)});
  const auto here = choose_gid_pair(first, second);
  const auto there = choose_gid_pair(second, first);
  ASSERT_TRUE(here && there);
  const GidPair seen = there->swapped();
  EXPECT_EQ(here->first, seen.first);
  EXPECT_EQ(here->second, seen.second);
}

TEST(GidPair, PrefersASubnetInCommonToALowerIndexAndToIpv4) {
  const GidOffer first = offer({entry(0, "10.1.0.1", 24), entry(1, "10.2.0.1", 24)});
  const GidOffer second = offer({entry(0, "10.3.0.2", 24), entry(1, "10.2.0.2", 24)});
  EXPECT_EQ(choose_gid_pair(first, second)->first.index, 1U);
  const GidOffer third = offer({entry(0, "10.1.0.1", 24), entry(1, "fd77::1", 64)});
  const GidOffer fourth = offer({entry(0, "10.3.0.2", 24), entry(1, "fd77::2", 64)});
  EXPECT_EQ(choose_gid_pair(third, fourth)->reason, "RoCE v2, IPv6, same subnet");
}

TEST(GidPair, OfDifferentSubnetsNeedsARouteAndSaysSo) {
  const auto pair =
      choose_gid_pair(offer({entry(1, "10.1.0.1", 24)}), offer({entry(1, "10.2.0.2", 24)}));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->reason, "RoCE v2, IPv4, other subnet, by a route");
}

TEST(GidPair, TakesRoceV2BeforeV1) {
  const GidOffer first =
      offer({entry(0, "10.0.0.1", 24, GidType::roce_v1), entry(1, "10.0.0.1", 24)});
  const GidOffer second =
      offer({entry(0, "10.0.0.2", 24, GidType::roce_v1), entry(1, "10.0.0.2", 24)});
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first.index, 1U);
  EXPECT_EQ(pair->second.index, 1U);
  EXPECT_TRUE(refuses(*pair, 0, 1, "RoCE v1 against RoCE v2"));
}

TEST(GidPair, TakesRoceV1OnlyWithinASubnet) {
  const auto near = choose_gid_pair(offer({entry(0, "10.0.0.1", 24, GidType::roce_v1)}),
                                    offer({entry(0, "10.0.0.2", 24, GidType::roce_v1)}));
  EXPECT_TRUE(near);
  const auto far = choose_gid_pair(offer({entry(0, "10.0.0.1", 24, GidType::roce_v1)}),
                                   offer({entry(0, "10.9.0.2", 24, GidType::roce_v1)}));
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message().find("RoCE v1 is not routed"), std::string::npos);
}

TEST(GidPair, TakesLinkLocalOnlyOnOneLink) {
  const GidOffer first = offer({entry(0, "fe80::1", 64)});
  const GidOffer second = offer({entry(0, "fe80::2", 64)});
  const auto unknown = choose_gid_pair(first, second);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("link-local"), std::string::npos);
  EXPECT_TRUE(choose_gid_pair(first, second, true));
}

TEST(GidPair, TakesLinkLocalWhereBothEndsAskForIt) {
  GidOffer first = lab_host("1");
  GidOffer second = lab_host("2");
  first.index = 0;
  EXPECT_FALSE(choose_gid_pair(first, second));
  second.index = 0;
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->reason, "RoCE v2, link-local, one link");
}

TEST(GidPair, FitsAnIndexThatOneEndAsksFor) {
  GidOffer first = lab_host("1");
  first.index = 2;
  const auto pair = choose_gid_pair(first, lab_host("2"));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->second.index, 2U);
}

TEST(GidPair, StaysOnTheInterfaceAskedFor) {
  GidOffer first =
      offer({entry(1, "10.0.0.1", 24), entry(2, "10.5.0.1", 24, GidType::roce_v2, "eth0.5")});
  const GidOffer second =
      offer({entry(1, "10.0.0.2", 24), entry(2, "10.5.0.2", 24, GidType::roce_v2, "eth0.5")});
  first.interface = "eth0.5";
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first.interface, "eth0.5");
  EXPECT_EQ(pair->second.index, 2U);
}

TEST(GidPair, ThatIsNoneShowsBothTablesAndTheWish) {
  GidOffer first = offer({entry(1, "10.0.0.1", 24)}, "mlx5_0");
  first.index = 9;
  const auto pair = choose_gid_pair(first, offer({entry(2, "fd77::2", 64)}, "bnxt_re0"));
  ASSERT_FALSE(pair);
  EXPECT_EQ(pair.error().slug(), "rdma-no-gid-pair");
  const std::string& message = pair.error().message();
  EXPECT_NE(message.find("mlx5_0 has [1] 10.0.0.1 RoCE v2 eth0"), std::string::npos) << message;
  EXPECT_NE(message.find("index 9 asked for"), std::string::npos) << message;
  EXPECT_NE(message.find("bnxt_re0 has [2] fd77::2 RoCE v2 eth0"), std::string::npos) << message;
}

TEST(GidPair, OfEmptyTablesIsAnErrorToo) { EXPECT_FALSE(choose_gid_pair(offer({}), offer({}))); }

TEST(GidPair, OfUnlikeLinkLayersIsRefused) {
  GidOffer infiniband = lab_host("2");
  infiniband.port.link_layer = LinkLayer::infiniband;
  const auto pair = choose_gid_pair(lab_host("1"), infiniband);
  ASSERT_FALSE(pair);
  EXPECT_EQ(pair.error().slug(), "rdma-link-layers-differ");
}

TEST(GidPair, OfIwarpIsAPairOfAddresses) {
  GidOffer first =
      offer({entry(0, "10.77.0.1", 24, GidType::iwarp), entry(1, "fe80::1", 64, GidType::iwarp)});
  GidOffer second =
      offer({entry(0, "fe80::2", 64, GidType::iwarp), entry(1, "10.77.0.2", 24, GidType::iwarp)});
  first.port.link_layer = second.port.link_layer = LinkLayer::iwarp;
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->reason, "iWARP, IPv4, same subnet");
  EXPECT_EQ(socket_address(pair->second, 40123).text(), "10.77.0.2:40123");
}

TEST(GidPair, OnInfinibandNeedsNoInterfaceAndPrefersOneSubnet) {
  GidOffer first = offer({entry(0, "fe80::2c9:300:1:1", 0, GidType::infiniband, ""),
                          entry(1, "fec0::1", 0, GidType::infiniband, "")});
  GidOffer second = offer({entry(0, "fe80::2c9:300:1:2", 0, GidType::infiniband, "")});
  first.port.link_layer = second.port.link_layer = LinkLayer::infiniband;
  const auto pair = choose_gid_pair(first, second);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first.index, 0U);
  EXPECT_EQ(pair->reason, "InfiniBand, same subnet");
}

TEST(GidPair, OfLargeTablesTellsAFewRefusalsOnly) {
  std::vector<GidEntry> many;
  for (std::uint32_t i = 0; i < 256; ++i) {
    many.push_back(entry(i, "10.0." + std::to_string(i) + ".1", 24));
  }
  const auto pair = choose_gid_pair(offer(many), offer(many));
  ASSERT_TRUE(pair);
  EXPECT_LE(pair->refused.size(), 8U);
}

TEST(TableInShort, EndsWithHowManyAreLeftOut) {
  const PortDescription port = port_of("rxe0", {entry(0, "fe80::1"), entry(1, "10.0.0.1")});
  EXPECT_EQ(table_in_short(port, 1), "rxe0 has [0] fe80::1 RoCE v2 eth0 and 1 more");
  EXPECT_EQ(table_in_short(port_of("rxe0", {})), "rxe0 has no GID");
}

}  // namespace
}  // namespace netbench::rdma
