#include "transports/rdma/end_address.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/rdma/gids.hpp"
#include "transports/rdma/wire.hpp"

namespace netbench::rdma {
namespace {

EndAddress sample() {
  EndAddress address;
  address.offer.port = port_of("mlx5_0", {entry(0, "fe80::1", 64), entry(3, "10.0.0.1", 24)});
  address.offer.port.port_count = 2;
  address.offer.port.lid = 0x1234;
  address.offer.port.max_message_bytes = 1U << 31;
  address.offer.interface = "eth0";
  address.offer.index = 3;
  address.max_reads_out = 16;
  address.max_reads_in = 8;
  address.cm_port = 40123;
  address.queue_pairs = {{0xabcdef, 0x123456}, {17, 0xffffff}};
  address.buffers = {{0x7f0000001000, 65536, 0xdeadbeef}};
  address.extra = {1, 2, 3};
  return address;
}

TEST(EndAddress, ComesBackAsItWas) {
  const auto decoded = decode_end_address(encode(sample()));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, sample());
}

TEST(EndAddress, WithNothingInItComesBackToo) {
  const auto decoded = decode_end_address(encode(EndAddress{}));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, EndAddress{});
}

TEST(EndAddress, CutAnywhereIsRefused) {
  const std::vector<std::uint8_t> whole = encode(sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto decoded = decode_end_address(std::span(whole).first(length));
    ASSERT_FALSE(decoded) << length;
    EXPECT_EQ(decoded.error().slug(), "rdma-bad-address");
  }
}

TEST(EndAddress, WithBytesBehindItIsRefused) {
  std::vector<std::uint8_t> bytes = encode(sample());
  bytes.push_back(0);
  EXPECT_FALSE(decode_end_address(bytes));
}

TEST(EndAddress, OfAnotherVersionIsRefused) {
  std::vector<std::uint8_t> bytes = encode(sample());
  ++bytes[3];
  EXPECT_FALSE(decode_end_address(bytes));
}

TEST(EndAddress, ChangedAtRandomIsReadWithinItsBoundsOrRefused) {
  std::mt19937 random(7);
  const std::vector<std::uint8_t> whole = encode(sample());
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes = whole;
    for (int change = 0; change < 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    if (const auto decoded = decode_end_address(bytes)) {
      EXPECT_LE(decoded->offer.port.gids.size(), kMaxGids);
      EXPECT_LE(decoded->queue_pairs.size(), kMaxQueuePairs);
    }
  }
}

TEST(EndAddress, OfAHostileCountAllocatesNothing) {
  Reader reader(std::vector<std::uint8_t>{0xff, 0xff, 0xff, 0x7f, 1, 2, 3});
  EXPECT_EQ(reader.count(UINT32_MAX, 6), 0U);
  EXPECT_FALSE(reader.ok());
}

TEST(EndAddress, WithControlCharactersInANameIsRefused) {
  EndAddress address = sample();
  address.offer.port.device = "mlx5\x1b[2J";
  EXPECT_FALSE(decode_end_address(encode(address)));
}

TEST(EndAddress, WithABufferAroundTheEndOfMemoryIsRefused) {
  EndAddress address = sample();
  address.buffers[0] = {UINT64_MAX - 10, 100, 1};
  EXPECT_FALSE(decode_end_address(encode(address)));
}

TEST(EndAddress, OfTheMostQueuePairsFitsTheControlChannel) {
  EndAddress address = sample();
  address.queue_pairs.resize(kMaxQueuePairs);
  address.extra.resize(kMaxExtraBytes);
  address.offer.port.gids.resize(kMaxGids, entry(1, "fd77::1"));
  const std::vector<std::uint8_t> bytes = encode(address);
  EXPECT_LE(bytes.size(), 65536U);
  EXPECT_TRUE(decode_end_address(bytes));
}

TEST(Reader, YieldsZerosAfterItsEnd) {
  Reader reader(std::span<const std::uint8_t>{});
  EXPECT_EQ(reader.u64(), 0U);
  EXPECT_EQ(reader.text(), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(reader.complete());
}

}  // namespace
}  // namespace netbench::rdma
