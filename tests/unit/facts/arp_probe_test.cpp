#include "bench/facts/arp_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

constexpr MacAddress kMac{2, 0, 0, 0, 0, 7};
constexpr Ipv4Bytes kOwn{10, 9, 0, 1};
constexpr Ipv4Bytes kPeer{10, 9, 0, 2};

/// The answer of RFC 826: the request turned round, with operation 2.
ArpFrame reply() {
  ArpFrame frame = arp_request(kMac, kPeer, kOwn);
  frame[21] = 2;
  return frame;
}

TEST(ArpProbe, AsksEveryoneWhoHasAnAddress) {
  const ArpFrame frame = arp_request(kMac, kOwn, kPeer);
  EXPECT_TRUE(
      std::all_of(frame.begin(), frame.begin() + 6, [](auto byte) { return byte == 0xff; }));
  EXPECT_TRUE(std::equal(kMac.begin(), kMac.end(), frame.begin() + 6));
  EXPECT_EQ(frame[12], 0x08);
  EXPECT_EQ(frame[13], 0x06);
  EXPECT_EQ(frame[21], 1);
  EXPECT_TRUE(std::equal(kOwn.begin(), kOwn.end(), frame.begin() + 28));
  EXPECT_TRUE(std::equal(kPeer.begin(), kPeer.end(), frame.begin() + 38));
}

TEST(ArpProbe, KnowsAnAnswerToItsQuestion) {
  EXPECT_EQ(arp_owner(reply(), kPeer), "02:00:00:00:00:07");
  EXPECT_FALSE(arp_owner(reply(), kOwn));                          // of another address
  EXPECT_FALSE(arp_owner(arp_request(kMac, kPeer, kOwn), kPeer));  // a question
  const ArpFrame whole = reply();
  EXPECT_FALSE(arp_owner(std::span(whole).first(41), kPeer));  // cut off
}

TEST(ArpProbe, SeesTwoHostsWithOneAddress) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace one;
  const Namespace other;
  here.run("ip link add br0 type bridge && ip link set br0 up && ip addr add 10.9.0.1/24 dev br0");
  for (const auto* there : {&one, &other}) {
    const std::string name = there == &one ? "p1" : "p2";
    here.run("ip link add " + name + " type veth peer name eth0 netns " + there->path());
    here.run("ip link set " + name + " master br0 up");
    there->run("ip addr add 10.9.0.2/24 dev eth0 && ip link set eth0 up");
  }
  const Namespace::Stay stay(here);
  const auto owners = arp_owners("br0", "10.9.0.1", "10.9.0.2", std::chrono::milliseconds(400));
  ASSERT_TRUE(owners) << owners.error().message;
  EXPECT_EQ(owners->size(), 2U);
  const auto nobody = arp_owners("br0", "10.9.0.1", "10.9.0.9", std::chrono::milliseconds(100));
  ASSERT_TRUE(nobody);
  EXPECT_TRUE(nobody->empty());
}

TEST(ArpProbe, KnowsNoIpv6) {
  EXPECT_EQ(arp_owners("lo", "::1", "::1", std::chrono::milliseconds(1)).error().slug,
            "bad-address");
}

}  // namespace
}  // namespace netbench::facts
