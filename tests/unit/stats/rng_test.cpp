#include "bench/stats/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace netbench::stats {
namespace {

TEST(Rng, RepeatsItselfForASeedAndDiffersForAnother) {
  Rng a(7);
  Rng b(7);
  Rng c(8);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

TEST(Rng, GivesThePublishedSequenceOfSplitmixAndXoshiro) {
  // splitmix64 of seed 0 begins e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f; the first
  // output of xoshiro256** is rotl(s[1]·5, 7)·9 of that state.
  Rng rng(0);
  const std::uint64_t s1 = 0x6e789e6aa1b965f4U * 5;
  EXPECT_EQ(rng.next(), ((s1 << 7) | (s1 >> 57)) * 9);
}

TEST(Rng, DrawsUniformAndNormalValuesWithTheRightMoments) {
  constexpr int kN = 200'000;
  Rng rng(1);
  double uniform = 0;
  double normal = 0;
  double squares = 0;
  for (int i = 0; i < kN; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    const double z = rng.normal();
    uniform += u;
    normal += z;
    squares += z * z;
  }
  EXPECT_NEAR(uniform / kN, 0.5, 0.003);
  EXPECT_NEAR(normal / kN, 0, 0.01);
  EXPECT_NEAR(squares / kN, 1, 0.02);
}

TEST(Rng, DrawsBelowABoundEvenly) {
  Rng rng(2);
  std::array<int, 6> faces{};
  for (int i = 0; i < 60'000; ++i) {
    ++faces.at(static_cast<std::size_t>(rng.below(6)));
  }
  for (const int count : faces) {
    EXPECT_NEAR(count, 10'000, 400);
  }
  EXPECT_EQ(rng.below(0), 0U);
  EXPECT_EQ(rng.below(1), 0U);
}

TEST(Shuffle, PermutesAndRepeatsForASeed) {
  std::vector<int> a(50);
  std::iota(a.begin(), a.end(), 0);
  std::vector<int> b = a;
  std::vector<int> c = a;
  const std::vector<int> sorted = a;
  shuffle(std::span(a), 11);
  shuffle(std::span(b), 11);
  shuffle(std::span(c), 12);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, sorted);
  std::sort(a.begin(), a.end());
  EXPECT_EQ(a, sorted);
}

}  // namespace
}  // namespace netbench::stats
