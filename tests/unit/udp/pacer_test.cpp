#include "transports/udp/pacer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace netbench::udp {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// When each datagram left: a sender that takes `delay()` to come back after each sleep.
std::vector<std::int64_t> simulate(Pacer& pacer, std::int64_t length_ns,
                                   const std::function<std::int64_t(std::int64_t)>& delay) {
  std::vector<std::int64_t> times;
  const std::int64_t begin_ns = 77 * kSecond;
  for (std::int64_t now_ns = begin_ns; now_ns < begin_ns + length_ns;) {
    const std::size_t count = pacer.allowed(now_ns);
    if (count == 0) {
      now_ns = pacer.wake_ns();
      now_ns += delay(now_ns - begin_ns);
      continue;
    }
    times.insert(times.end(), count, now_ns - begin_ns);
    pacer.sent(count);
  }
  return times;
}

std::int64_t no_delay(std::int64_t) { return 0; }

/// The most that left in any interval of this length.
std::size_t most_in(const std::vector<std::int64_t>& times, std::int64_t interval_ns) {
  std::size_t most = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    while (times[i] - times[first] >= interval_ns) {
      ++first;
    }
    most = std::max(most, i - first + 1);
  }
  return most;
}

TEST(Pacer, MeetsTheRateFromKilobitsToTerabits) {
  for (const double rate_bps : {1e4, 1e6, 1e8, 1e9, 1e11, 1e12}) {
    const std::int64_t length_ns = rate_bps < 1e5 ? 60 * kSecond : kSecond / 50;
    Pacer pacer(Pacer::plan(rate_bps, 1448, 32, false));
    const auto times = simulate(pacer, length_ns, no_delay);
    const double ideal = rate_bps * static_cast<double>(length_ns) / 1e9 / 8 / 1448;
    EXPECT_NEAR(static_cast<double>(times.size()), ideal, 1 + 17) << rate_bps;
    EXPECT_EQ(pacer.lost_ns(), 0) << rate_bps;
  }
}

TEST(Pacer, MakesUpForSmallDelays) {
  std::mt19937_64 random(5);
  Pacer pacer(Pacer::plan(1e9, 1448, 32, false));
  const auto times = simulate(pacer, kSecond, [&](std::int64_t) {
    return static_cast<std::int64_t>(random() % 200'000);  // under 270 µs, the rest of a burst
  });
  EXPECT_NEAR(static_cast<double>(times.size()), 1e9 / 8 / 1448, 32);
  EXPECT_EQ(pacer.lost_ns(), 0);
}

TEST(Pacer, NeverCatchesUpAfterAStall) {
  for (const double rate_bps : {1e6, 1e7, 1e9}) {
    Pacer pacer(Pacer::plan(rate_bps, 1448, 32, false));
    const auto times = simulate(pacer, 5 * kSecond, [stalled = false](std::int64_t at) mutable {
      const bool now = !stalled && at > kSecond;
      stalled = stalled || now;
      return now ? 3 * kSecond : 0;
    });
    const double per_second = rate_bps / 8 / 1448;
    EXPECT_LE(static_cast<double>(most_in(times, kSecond)), 1.2 * per_second + 1) << rate_bps;
    EXPECT_LE(static_cast<double>(most_in(times, kSecond / 40)), 0.03 * per_second + 3) << rate_bps;
    EXPECT_NEAR(static_cast<double>(times.size()), 2 * per_second, 0.02 * per_second + 2);
    EXPECT_NEAR(static_cast<double>(pacer.lost_ns()), 3e9, 0.03e9) << rate_bps;
  }
}

TEST(Pacer, LimitsEveryBurst) {
  Pacer pacer(Pacer::plan(1e9, 1448, 8, false));
  ASSERT_EQ(pacer.allowed(0), 1u);
  EXPECT_EQ(pacer.allowed(10 * kSecond), 8u);
  const Pacer::Plan slow = Pacer::plan(1e6, 1448, 1024, false);
  EXPECT_EQ(slow.burst, 2u) << "5 ms of 1 Mbit/s are less than a datagram";
  EXPECT_EQ(Pacer::plan(1e6, 1448, 1, false).burst, 1u);
}

TEST(Pacer, SpinsForEachDatagram) {
  EXPECT_EQ(Pacer::plan(1e9, 1448, 32, true).group, 1u);
  EXPECT_GT(Pacer::plan(1e9, 1448, 32, false).group, 1u);
}

TEST(Pacer, WithoutARateAllowsWholeBatches) {
  Pacer pacer(Pacer::plan(0, 1448, 32, false));
  EXPECT_EQ(pacer.allowed(0), 32u);
  pacer.sent(32);
  EXPECT_EQ(pacer.allowed(0), 32u);
}

}  // namespace
}  // namespace netbench::udp
