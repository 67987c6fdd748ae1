#include "bench/facts/lldp.hpp"

#include <gtest/gtest.h>

#include <random>

namespace netbench::facts {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes tlv(unsigned type, Bytes value) {
  Bytes bytes{static_cast<std::uint8_t>((type << 1U) | (value.size() >> 8U)),
              static_cast<std::uint8_t>(value.size())};
  bytes.insert(bytes.end(), value.begin(), value.end());
  return bytes;
}

Bytes text_value(std::uint8_t subtype, const std::string& text) {
  Bytes value{subtype};
  value.insert(value.end(), text.begin(), text.end());
  return value;
}

Bytes frame(std::initializer_list<Bytes> parts, Bytes tag = {}) {
  Bytes bytes{0x01, 0x80, 0xC2, 0, 0, 0x0E, 2, 0, 0, 0, 0, 1};
  bytes.insert(bytes.end(), tag.begin(), tag.end());
  bytes.insert(bytes.end(), {0x88, 0xCC});
  for (const auto& part : parts) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

const Bytes kChassis = tlv(1, {4, 2, 0, 0, 0xAA, 0xBB, 0});
const Bytes kPort = tlv(2, text_value(5, "Ethernet1/17"));
const Bytes kEnd = tlv(0, {});

TEST(Lldp, NamesTheSwitchAndItsPort) {
  const auto found = parse_lldp(frame({kChassis, kPort, tlv(5, {'l', 'e', 'a', 'f'}), kEnd}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->system, "leaf");
  EXPECT_EQ(found->port, "Ethernet1/17");
  EXPECT_EQ(found->chassis, "02:00:00:aa:bb:00");
}

TEST(Lldp, TakesTheChassisWhereTheSystemHasNoName) {
  const auto found = parse_lldp(frame({kChassis, tlv(2, {3, 2, 0, 0, 0, 0, 9}), kEnd}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->system, "02:00:00:aa:bb:00");
  EXPECT_EQ(found->port, "02:00:00:00:00:09");
}

TEST(Lldp, ReadsNetworkAddressesAsSuch) {
  const auto found = parse_lldp(frame({tlv(1, {5, 1, 192, 0, 2, 7}), kPort, kEnd}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->chassis, "192.0.2.7");
}

TEST(Lldp, SkipsVlanTags) {
  EXPECT_TRUE(parse_lldp(frame({kChassis, kPort, kEnd}, {0x81, 0x00, 0, 5})));
}

TEST(Lldp, IsNothingWithoutChassisOrPortOrOfAnotherProtocol) {
  EXPECT_FALSE(parse_lldp(frame({kPort, kEnd})));
  EXPECT_FALSE(parse_lldp(frame({kChassis, kEnd})));
  Bytes other = frame({kChassis, kPort});
  other[13] = 0x00;
  EXPECT_FALSE(parse_lldp(other));
  EXPECT_FALSE(parse_lldp({}));
}

TEST(Lldp, LetsNoControlCharacterThrough) {
  const auto found = parse_lldp(frame({kChassis, kPort, tlv(5, {'a', 0x1B, '[', '2', 'J', 0xFF})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->system, "a?[2J?");
}

TEST(Lldp, SurvivesEveryTruncationAndAnyDamage) {
  const Bytes whole = frame({kChassis, kPort, tlv(4, text_value('x', "port")),
                             tlv(127, {0x00, 0x12, 0x0F, 4, 0x05, 0xF2}), kEnd});
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto found = parse_lldp(std::span(whole).first(size));
    EXPECT_TRUE(!found || !found->port.empty());
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes damaged = whole;
    for (int byte = 0; byte < 4; ++byte) {
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    }
    const auto found = parse_lldp(damaged);
    EXPECT_TRUE(!found || found->system.size() <= 511 * 3);
  }
}

TEST(LldpFile, HoldsFramesBehindTheirLengths) {
  const Bytes one = frame({kChassis, kPort, kEnd});
  Bytes file{static_cast<std::uint8_t>(one.size()), 0, 0, 0, 0, 0, 0, 0};
  file.insert(file.end(), one.begin(), one.end());
  ASSERT_EQ(split_lldp_file(file).size(), 1U);
  EXPECT_TRUE(parse_lldp(split_lldp_file(file).front()));
  file.insert(file.end(), 8, 0xFF);  // a length beyond the end
  EXPECT_EQ(split_lldp_file(file).size(), 1U);
}

}  // namespace
}  // namespace netbench::facts
