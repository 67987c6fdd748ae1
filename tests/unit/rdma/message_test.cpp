#include "transports/rdma/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace netbench::rdma {
namespace {

TEST(Sequence, ComesBackFromMessagesOfEverySize) {
  constexpr std::uint64_t kSequence = 0x1122334455667788;
  for (std::size_t bytes = 1; bytes <= 64; ++bytes) {
    std::vector<std::byte> message(bytes);
    stamp(message.data(), bytes, kSequence);
    EXPECT_EQ(stamped(message.data(), bytes), carried(kSequence, bytes)) << bytes;
    EXPECT_EQ(peek_sequence(message.data(), bytes), carried(kSequence, bytes)) << bytes;
  }
}

TEST(Sequence, LiesInTheLastBytesAndTouchesNoOther) {
  std::vector<std::byte> message(20, std::byte{0xaa});
  stamp(message.data(), message.size(), 0);
  EXPECT_TRUE(std::all_of(message.begin(), message.begin() + 12,
                          [](std::byte b) { return b == std::byte{0xaa}; }));
  EXPECT_TRUE(std::all_of(message.begin() + 12, message.end(),
                          [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Sequence, OfAShortMessageIsWhatItCanCarry) {
  EXPECT_EQ(carried(256, 1), 0U);
  EXPECT_EQ(carried(0x12345, 2), 0x2345U);
  EXPECT_EQ(carried(UINT64_MAX, 7), UINT64_MAX >> 8);
  EXPECT_EQ(carried(UINT64_MAX, 8), UINT64_MAX);
}

TEST(Pattern, ComparesEqualWithItsOwnSeedAlone) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{4097}}) {
    std::vector<std::byte> body(bytes);
    fill_pattern(body, 5);
    EXPECT_FALSE(compare_pattern(body, 5)) << bytes;
  }
  std::vector<std::byte> body(64);
  fill_pattern(body, 5);
  EXPECT_TRUE(compare_pattern(body, 6));
}

TEST(Pattern, TellsWhereOneWrongBitIs) {
  std::vector<std::byte> body(1000);
  fill_pattern(body, 9);
  body[777] ^= std::byte{4};
  const auto mismatch = compare_pattern(body, 9);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->offset, 777U);
  EXPECT_EQ(mismatch->wrong_bytes, 1U);
  EXPECT_EQ(mismatch->found ^ mismatch->expected, std::byte{4});
  EXPECT_NE(text_of(*mismatch).find("1 wrong bytes, the first at offset 777"), std::string::npos);
}

TEST(Pattern, SeesDataThatAreShiftedOrStale) {
  std::vector<std::byte> body(4096);
  fill_pattern(body, 1);
  std::vector<std::byte> shifted(body.begin() + 8, body.end());
  EXPECT_TRUE(compare_pattern(shifted, 1));
  std::vector<std::byte> half_old(4096);
  fill_pattern(half_old, 2);
  std::copy_n(body.begin(), 2048, half_old.begin());
  const auto mismatch = compare_pattern(half_old, 1);
  ASSERT_TRUE(mismatch);
  EXPECT_GE(mismatch->offset, 2048U);
  EXPECT_GT(mismatch->wrong_bytes, 1900U);
}

TEST(Sampler, TakesTheFirstAndThenOneOfSoMany) {
  Sampler sampler(3);
  std::vector<bool> due;
  for (int i = 0; i < 7; ++i) {
    due.push_back(sampler.due());
  }
  EXPECT_EQ(due, (std::vector<bool>{true, false, false, true, false, false, true}));
}

TEST(SamplingDistance, GrowsWithTheMessageWithinItsBounds) {
  EXPECT_EQ(sampling_distance(1), 64U);
  EXPECT_EQ(sampling_distance(65536), 256U);
  EXPECT_EQ(sampling_distance(std::size_t{1} << 30), 4096U);
}

}  // namespace
}  // namespace netbench::rdma
