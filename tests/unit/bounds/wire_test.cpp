#include "report/bounds/wire.hpp"

#include <gtest/gtest.h>

namespace netbench::report {
namespace {

double goodput(const WireLink& link, const WireTraffic& traffic = {}) {
  return goodput_ceiling(link, traffic).goodput_bps.value();
}

TEST(WireCeiling, MatchesThePublishedTcpFigures) {
  EXPECT_NEAR(goodput({.rate_bps = 1e9}), 941.48e6, 0.01e6);
  EXPECT_NEAR(goodput({.rate_bps = 10e9, .mtu_bytes = 9000}), 9.9004e9, 0.0001e9);
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, {.tcp_timestamps = false}), 949.28e6, 0.01e6);
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, {.family = IpFamily::ipv6}), 928.48e6, 0.01e6);
}

TEST(WireCeiling, ATokenBucketCountsTheFrameHeaderAlone) {
  EXPECT_NEAR(goodput({.rate_bps = 100e6, .overhead_bytes = kTokenBucketOverheadBytes}),
              100e6 * 1448 / 1514, 1);
}

TEST(WireCeiling, AVlanTagTakesFourBytes) {
  EXPECT_NEAR(goodput({.rate_bps = 1e9, .vlan = true}), 1e9 * 1448 / 1542, 1);
}

TEST(WireCeiling, ASmallerSegmentCarriesLess) {
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, {.mss_bytes = 536}), 1e9 * 536 / (536 + 52 + 38), 1);
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, {.mss_bytes = 8948}), goodput({.rate_bps = 1e9}), 1);
}

TEST(WireCeiling, UdpCountsWholeDatagrams) {
  const WireTraffic full{.protocol = WireProtocol::udp};
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, full), 1e9 * 1472 / 1538, 1);
  const WireTraffic small{.protocol = WireProtocol::udp, .datagram_bytes = 100};
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, small), 1e9 * 100 / (128 + 38), 1);
}

TEST(WireCeiling, ShortFramesArePadded) {
  const WireTraffic tiny{.protocol = WireProtocol::udp, .datagram_bytes = 1};
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, tiny), 1e9 * 1 / 84, 1);
}

TEST(WireCeiling, LargeDatagramsGoAsFragments) {
  // 8192 + 8 bytes in fragments of 1480: five full ones and one of 800.
  const WireTraffic large{.protocol = WireProtocol::udp, .datagram_bytes = 8192};
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, large), 1e9 * 8192 / (5 * 1538 + 858), 1);
  EXPECT_NE(goodput_ceiling({.rate_bps = 1e9}, large).note.find("in 6 fragments"),
            std::string::npos);
}

TEST(WireCeiling, ADatagramThatJustFitsIsNotFragmented) {
  const WireTraffic fits{.protocol = WireProtocol::udp, .datagram_bytes = 1472};
  const WireTraffic larger{.protocol = WireProtocol::udp, .datagram_bytes = 1473};
  EXPECT_NEAR(goodput({.rate_bps = 1e9}, fits), 1e9 * 1472 / 1538, 1);
  EXPECT_LT(goodput({.rate_bps = 1e9}, larger), goodput({.rate_bps = 1e9}, fits));
}

TEST(WireCeiling, ShowsItsArithmetic) {
  EXPECT_EQ(goodput_ceiling({.rate_bps = 10e9}, {}).note,
            "10.00 Gb/s x 1448 B payload / 1538 B on the wire (MTU 1500, IPv4, 38 B a frame, TCP "
            "timestamps)");
}

TEST(WireCeiling, NeverExceedsTheLinkNorGrowsWithHeaders) {
  for (std::int64_t mtu = 576; mtu <= 9216; mtu += 8) {
    const double v4 = goodput({.rate_bps = 1e9, .mtu_bytes = mtu});
    EXPECT_GT(v4, 0);
    EXPECT_LT(v4, 1e9);
    EXPECT_GT(v4, goodput({.rate_bps = 1e9, .mtu_bytes = mtu}, {.family = IpFamily::ipv6}));
    EXPECT_GT(goodput({.rate_bps = 1e9, .mtu_bytes = mtu + 8}), v4);
  }
}

TEST(WireCeiling, HasNoValueWithoutARateOrRoom) {
  EXPECT_FALSE(goodput_ceiling({.rate_bps = 0}, {}).goodput_bps.has_value());
  EXPECT_FALSE(goodput_ceiling({.rate_bps = 1e9, .mtu_bytes = 52}, {}).goodput_bps.has_value());
  const WireTraffic udp{.protocol = WireProtocol::udp, .datagram_bytes = 9};
  EXPECT_FALSE(goodput_ceiling({.rate_bps = 1e9, .mtu_bytes = 20}, udp).goodput_bps.has_value());
}

}  // namespace
}  // namespace netbench::report
