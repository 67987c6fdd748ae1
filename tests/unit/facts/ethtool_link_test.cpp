#include "bench/facts/ethtool_link.hpp"

#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <array>

namespace netbench::facts {
namespace {

const std::array<std::string, 6> kNames{"10baseT/Half",   "100baseT/Full",   "Autoneg",
                                        "1000baseT/Full", "10000baseT/Full", "FIBRE"};
constexpr std::uint32_t kHundred = 1U << 1U;
constexpr std::uint32_t kThousand = 1U << 3U;
constexpr std::uint32_t kTenThousand = 1U << 4U;

LinkSettings settings(std::uint32_t speed_mbps) {
  LinkSettings link;
  link.speed_mbps = speed_mbps;
  link.duplex = DUPLEX_FULL;
  link.autonegotiation = true;
  link.supported = {kHundred | kThousand | kTenThousand | 1U << 2U};
  link.advertised = {kHundred | kThousand | kTenThousand};
  link.partner_advertised = {kHundred | kThousand};
  return link;
}

Value value_of(const std::vector<Fact>& facts, const std::string& key) {
  const auto found = std::ranges::find(facts, key, &Fact::key);
  return found == facts.end() ? Value(std::string("no such fact")) : found->value;
}

TEST(LinkSettings, KnowTheFastestModeAndTheFastestThatBothEndsOffer) {
  const auto facts = link_settings_facts(settings(1000), kNames);
  EXPECT_EQ(value_of(facts, "speed_bps"), Value(std::int64_t{1'000'000'000}));
  EXPECT_EQ(value_of(facts, "speed_max_bps"), Value(std::int64_t{10'000'000'000}));
  EXPECT_EQ(value_of(facts, "speed_negotiable_bps"), Value(std::int64_t{1'000'000'000}));
  EXPECT_EQ(value_of(facts, "downshift"), Value(false));
}

TEST(LinkSettings, CallALinkSlowerThanAgreedADownshift) {
  EXPECT_EQ(value_of(link_settings_facts(settings(100), kNames), "downshift"), Value(true));
}

TEST(LinkSettings, CannotTellADownshiftWithoutThePartnersModes) {
  LinkSettings link = settings(100);
  link.partner_advertised = {0};
  EXPECT_EQ(value_of(link_settings_facts(link, kNames), "downshift"), Value{});
  link = settings(100);
  link.autonegotiation = false;
  EXPECT_EQ(value_of(link_settings_facts(link, kNames), "downshift"), Value{});
}

TEST(LinkSettings, CallUnknownWhatTheDriverLeavesOut) {
  const auto facts = link_settings_facts({}, kNames);
  for (const char* key : {"speed_bps", "speed_max_bps", "duplex", "mdix"}) {
    EXPECT_EQ(value_of(facts, key), Value{}) << key;
  }
}

TEST(LinkSettings, IgnoreModesThatHaveNoName) {
  const std::vector<std::uint32_t> mask{1U << 31U, ~0U};
  EXPECT_EQ(fastest_mode_mbps(mask, kNames), 0);
}

TEST(Fec, IsNamedBitByBit) {
  EXPECT_EQ(fec_text(ETHTOOL_FEC_RS), "rs");
  EXPECT_EQ(fec_text(ETHTOOL_FEC_AUTO | ETHTOOL_FEC_BASER), "auto,baser");
  EXPECT_EQ(fec_text(0), "none");
}

}  // namespace
}  // namespace netbench::facts
