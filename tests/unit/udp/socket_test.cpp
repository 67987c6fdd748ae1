#include "transports/udp/socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "transports/udp/datagram.hpp"

namespace netbench::udp {
namespace {

TEST(Fragments, AFittingDatagramIsOnePacket) {
  EXPECT_EQ(fragments_per_datagram(1472, 1500, AF_INET), 1);
  EXPECT_EQ(fragments_per_datagram(1452, 1500, AF_INET6), 1);
  EXPECT_EQ(fragments_per_datagram(65507, 65536, AF_INET), 1);
}

TEST(Fragments, OneByteMoreIsTwo) {
  EXPECT_EQ(fragments_per_datagram(1473, 1500, AF_INET), 2);
  EXPECT_EQ(fragments_per_datagram(1453, 1500, AF_INET6), 2);
}

TEST(Fragments, CarryMultiplesOfEightBytes) {
  // 1480 B a fragment: 8 + 8872 = 6 × 1480; with MTU 1501 still 1480.
  EXPECT_EQ(fragments_per_datagram(8872, 1500, AF_INET), 6);
  EXPECT_EQ(fragments_per_datagram(8873, 1500, AF_INET), 7);
  EXPECT_EQ(fragments_per_datagram(8873, 1501, AF_INET), 7);
  EXPECT_EQ(fragments_per_datagram(65507, 1500, AF_INET), 45);
  // 1448 B a fragment with the fragment header of IPv6.
  EXPECT_EQ(fragments_per_datagram(65487, 1500, AF_INET6), 46);
}

TEST(Fragments, AnUnknownMtuIsNotGuessed) {
  EXPECT_EQ(fragments_per_datagram(9000, 0, AF_INET), 1);
}

TEST(Datagram, AHeaderSurvivesTheWire) {
  std::array<std::byte, kHeaderBytes> wire{};
  write_header(wire.data(), {Kind::data, 0x00FEDCBA98765432, 123'456'789'012'345});
  EXPECT_EQ(wire[0], std::byte{'D'});
  const auto header = read_header(wire);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->kind, Kind::data);
  EXPECT_EQ(header->sequence, 0x00FEDCBA98765432u);
  EXPECT_EQ(header->sent_ns, 123'456'789'012'345);
  EXPECT_FALSE(read_header(std::span(wire).first(15)).has_value());
}

TEST(Datagram, AGreetingIsKnownByItsTokenAndMagic) {
  Token token{1, 2, 3};
  const Greeting greeting = make_greeting(kHelloMagic, token);
  EXPECT_TRUE(is_greeting(greeting, kHelloMagic, token));
  EXPECT_FALSE(is_greeting(greeting, kAnswerMagic, token));
  EXPECT_FALSE(is_greeting(std::span(greeting).first(19), kHelloMagic, token));
  token[15] = 1;
  EXPECT_FALSE(is_greeting(greeting, kHelloMagic, token));
}

}  // namespace
}  // namespace netbench::udp
