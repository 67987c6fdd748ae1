#include "bench/facts/path_search.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "bench/facts/path_mtu.hpp"

namespace netbench::facts {
namespace {

// Volleys until the answer, on a path that passes packets up to `limit_bytes`.
int solve(PathSearch& search, std::int64_t limit_bytes) {
  int volleys = 0;
  while (!search.finished() && volleys < 100) {
    ++volleys;
    for (const auto bytes : search.next_volley()) {
      if (bytes <= limit_bytes) {
        search.passed(bytes);
      } else {
        search.lost(bytes);
      }
    }
  }
  return volleys;
}

TEST(PathSearch, FindsEveryLimitExactly) {
  for (const std::int64_t limit : {576, 577, 1279, 1280, 1399, 1500, 1501, 4000, 8999, 9000}) {
    PathSearch search(576, 9000);
    EXPECT_LE(solve(search, limit), 4) << limit;
    EXPECT_EQ(search.largest_bytes(), limit);
  }
}

TEST(PathSearch, NeedsOneVolleyForACleanPathAndForA1500Hop) {
  PathSearch clean(576, 9000);
  EXPECT_EQ(solve(clean, 9000), 1);
  PathSearch hop(576, 9000);
  EXPECT_EQ(solve(hop, 1500), 1);
}

TEST(PathSearch, SaysWhenNothingPasses) {
  PathSearch search(576, 1500);
  solve(search, 100);
  EXPECT_TRUE(search.finished());
  EXPECT_EQ(search.largest_bytes(), 0);
}

TEST(PathSearch, TakesALossBelowAPassedSizeForChance) {
  PathSearch search(576, 9000);
  search.passed(4092);
  search.lost(1500);
  EXPECT_EQ(search.largest_bytes(), 4092);
  EXPECT_EQ(search.smallest_lost_bytes(), 9001);
}

TEST(PathSearch, BelievesALaterPassMoreThanAnEarlierLoss) {
  PathSearch search(576, 9000);
  search.passed(576);
  search.lost(1500);
  search.passed(1500);
  EXPECT_FALSE(search.finished());
  EXPECT_EQ(search.smallest_lost_bytes(), 9001);
  solve(search, 5000);
  EXPECT_EQ(search.largest_bytes(), 5000);
}

TEST(PathSearch, TriesWhatIcmpNamed) {
  PathSearch search(576, 9000);
  search.passed(1500);
  search.lost(4092);
  search.icmp_named(2222);
  const auto volley = search.next_volley();
  EXPECT_NE(std::ranges::find(volley, 2222), volley.end());
  EXPECT_NE(std::ranges::find(volley, 2223), volley.end());
}

TEST(PathSearch, KeepsAVolleyInsideAReceiveBuffer) {
  PathSearch search(576, 65535);
  search.passed(576);
  std::int64_t bytes = 0;
  for (const auto size : search.next_volley()) {
    bytes += size;
  }
  EXPECT_LE(bytes, 2 * 65535);
}

TEST(MssForMtu, SubtractsTheHeadersOfTheFamily) {
  EXPECT_EQ(mss_for_mtu(1500, AF_INET, true), 1448);
  EXPECT_EQ(mss_for_mtu(1500, AF_INET, false), 1460);
  EXPECT_EQ(mss_for_mtu(1500, AF_INET6, true), 1428);
  EXPECT_EQ(mss_for_mtu(9000, AF_INET, true), 8948);
  EXPECT_EQ(mss_for_mtu(20, AF_INET, true), 1);
}

}  // namespace
}  // namespace netbench::facts
