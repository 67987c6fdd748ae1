#include "bench/session/clock_offset.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bench/session/messages.hpp"

namespace netbench::session {
namespace {

TEST(ClockOffset, IsThatOfTheShortestRoundTripWithHalfOfItAsDoubt) {
  // The other clock is 5 ms ahead; the second answer came soonest.
  constexpr std::array<ClockSample, 3> kSamples{{{0, 5'900'000, 1'000'000},
                                                 {2'000'000, 7'100'000, 2'200'000},
                                                 {4'000'000, 9'050'000, 5'000'000}}};
  const ClockOffset found = clock_offset(kSamples);
  EXPECT_DOUBLE_EQ(found.offset_s, 5e-3);
  EXPECT_DOUBLE_EQ(found.uncertainty_s, 1e-4);
}

TEST(ClockOffset, OfAClockBehindIsNegative) {
  constexpr std::array<ClockSample, 1> kSample{{{10'000'000, 2'000'000, 14'000'000}}};
  EXPECT_DOUBLE_EQ(clock_offset(kSample).offset_s, -10e-3);
}

TEST(WitnessMessages, CarryWhatWasSeen) {
  const auto asked = from_message<WitnessRequest>(
      to_message(WitnessRequest{"192.168.1.100", "192.168.1.101", 18550}));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->address, "192.168.1.101");
  EXPECT_EQ(asked->port, 18550);
  const auto told =
      from_message<WitnessReply>(to_message(WitnessReply{"[::]:18550", "eth0", true, 3, 2, 1}));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->listens_on, "[::]:18550");
  EXPECT_EQ(told->way_back, "eth0");
  EXPECT_TRUE(told->has_address);
  EXPECT_EQ(told->out_rsts, 3);
  EXPECT_EQ(told->listen_overflows, 2);
  EXPECT_EQ(told->reverse_path_drops, 1);
}

TEST(ClockMessages, CarryTheTime) {
  const auto told = from_message<ClockReply>(to_message(ClockReply{1'764'000'000'123'456'789}));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->utc_ns, 1'764'000'000'123'456'789);
}

}  // namespace
}  // namespace netbench::session
