#include "bench/stats/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace netbench::stats {
namespace {

using Rounds = std::vector<double>;

PointChange compare_one(const Rounds& before, const Rounds& after, Worse worse = Worse::higher,
                        double spread = 0) {
  const std::vector<ComparePoint> points{{before, after, worse, spread}};
  return compare_points(points).front();
}

TEST(Welch, MatchesAHandComputedExample) {
  // Logs 0, 1, 2 against 3, 4, 5, 6: variances 1 and 5/3; error² = 1/3 + 5/12 = 3/4.
  const Rounds a{std::exp(0.0), std::exp(1.0), std::exp(2.0)};
  const Rounds b{std::exp(3.0), std::exp(4.0), std::exp(5.0), std::exp(6.0)};
  const WelchRatio welch = welch_log_ratio(a, b);
  const double dof = 0.5625 / (1.0 / 9 / 2 + 25.0 / 144 / 3);
  EXPECT_NEAR(welch.ratio.value, std::exp(3.5), 1e-9);
  EXPECT_NEAR(welch.dof, dof, 1e-9);
  EXPECT_NEAR(welch.p_value, 0.0100, 0.0005);
  EXPECT_EQ(welch.ratio.n, 7);
}

TEST(Welch, IsReciprocalWhenTheSidesAreExchanged) {
  const Rounds a{10, 11, 10.5, 10.2};
  const Rounds b{12, 11.8, 12.1, 12.5};
  const WelchRatio forward = welch_log_ratio(a, b);
  const WelchRatio back = welch_log_ratio(b, a);
  EXPECT_NEAR(forward.ratio.value * back.ratio.value, 1, 1e-12);
  EXPECT_NEAR(forward.ratio.low * back.ratio.high, 1, 1e-12);
  EXPECT_DOUBLE_EQ(forward.p_value, back.p_value);
}

TEST(Welch, AnswersWithoutNaNForConstantSingleAndUnusableRounds) {
  EXPECT_DOUBLE_EQ(welch_log_ratio(Rounds{5, 5}, Rounds{5, 5}).p_value, 1);
  EXPECT_DOUBLE_EQ(welch_log_ratio(Rounds{5, 5}, Rounds{6, 6}).p_value, 0);
  EXPECT_FALSE(welch_log_ratio(Rounds{5}, Rounds{6, 7}).ratio.has_interval);
  EXPECT_NEAR(welch_log_ratio(Rounds{5}, Rounds{6}).ratio.value, 1.2, 1e-12);
  EXPECT_DOUBLE_EQ(welch_log_ratio(Rounds{}, Rounds{6}).p_value, 1);
  EXPECT_DOUBLE_EQ(welch_log_ratio(Rounds{0, 1}, Rounds{6, 7}).p_value, 1);
}

TEST(BenjaminiHochberg, MatchesTheExampleOfThePaper) {
  // Benjamini & Hochberg (1995), section 3.2: four of these are rejected at 5 %.
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::size_t rejected = 0;
  for (const double value : adjusted) {
    rejected += value <= 0.05 ? 1U : 0U;
  }
  EXPECT_EQ(rejected, 4U);
  EXPECT_NEAR(adjusted[0], 0.0015, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_DOUBLE_EQ(adjusted[14], 1);
}

TEST(BenjaminiHochberg, KeepsTheOrderGivenAndHandlesNone) {
  const std::vector<double> adjusted = benjamini_hochberg(std::vector<double>{0.04, 0.01});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.02);
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

TEST(MannWhitney, IsExactForSmallSides) {
  const Rounds low{1, 2, 3, 4, 5};
  const Rounds high{6, 7, 8, 9, 10};
  EXPECT_NEAR(mann_whitney_p(low, high), 2.0 / 252, 1e-12);
  EXPECT_NEAR(mann_whitney_p(high, low), 2.0 / 252, 1e-12);
  EXPECT_NEAR(mann_whitney_p(Rounds{1, 2, 3}, Rounds{4, 5, 6}), 0.1, 1e-12);
}

TEST(MannWhitney, CountsTiesAndEqualSidesAsNoDifference) {
  EXPECT_DOUBLE_EQ(mann_whitney_p(Rounds{3, 3, 3}, Rounds{3, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(mann_whitney_p(Rounds{}, Rounds{1}), 1);
  EXPECT_NEAR(mann_whitney_p(Rounds{1, 1}, Rounds{1, 2}), 1, 1e-12);
}

TEST(MannWhitney, ApproximatesForLargeSides) {
  Rounds a(40);
  Rounds b(40);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i);
    b[i] = static_cast<double>(i) + 0.5;
  }
  EXPECT_GT(mann_whitney_p(a, b), 0.8);
  for (double& value : b) {
    value += 20;
  }
  EXPECT_LT(mann_whitney_p(a, b), 1e-6);
}

TEST(Compare, CallsAClearIncreaseOfLatencySlowerAndOfRateFaster) {
  const Rounds before{100, 101, 99, 100.5, 99.5};
  const Rounds after{110, 111, 109, 110.5, 109.5};
  EXPECT_EQ(compare_one(before, after).change, Change::slower);
  EXPECT_EQ(compare_one(before, after, Worse::lower).change, Change::faster);
  EXPECT_EQ(compare_one(after, before).change, Change::faster);
  EXPECT_EQ(compare_one(after, before, Worse::lower).change, Change::slower);
}

TEST(Compare, CallsAnIntervalInsideTheFloorSame) {
  const PointChange change =
      compare_one({100, 100.1, 99.9, 100, 100}, {100.2, 100.3, 100.1, 100.2, 100.2});
  EXPECT_LT(change.adjusted_p, 0.05);
  EXPECT_EQ(change.change, Change::same);
  EXPECT_FALSE(change.rounds_needed.has_value());
}

TEST(Compare, RaisesTheFloorToTwiceTheKnownSpread) {
  const Rounds before{100, 101, 99, 100.5, 99.5};
  const Rounds after{105, 106, 104, 105.5, 104.5};
  EXPECT_EQ(compare_one(before, after).change, Change::slower);
  const PointChange noisy = compare_one(before, after, Worse::higher, 0.04);
  EXPECT_DOUBLE_EQ(noisy.floor, 0.08);
  EXPECT_EQ(noisy.change, Change::same);
}

TEST(Compare, SaysHowManyRoundsWouldDecideAndWhatCouldBeSeen) {
  const PointChange change = compare_one({100, 104, 96, 102, 98}, {104, 108, 100, 106, 102});
  ASSERT_EQ(change.change, Change::inconclusive);
  ASSERT_TRUE(change.rounds_needed.has_value());
  EXPECT_GT(*change.rounds_needed, 5);
  EXPECT_LT(*change.rounds_needed, 100);
  ASSERT_TRUE(change.smallest_detectable.has_value());
  EXPECT_GT(*change.smallest_detectable, 0.05);
  EXPECT_LT(*change.smallest_detectable, 0.12);
}

TEST(Compare, NamesNoNumberOfRoundsWhereNoneWouldDo) {
  const PointChange change = compare_one({100, 140, 60}, {102, 142, 62});
  EXPECT_EQ(change.change, Change::inconclusive);
  EXPECT_FALSE(change.rounds_needed.has_value());
}

TEST(Compare, IsInconclusiveWithOneRoundASide) {
  const PointChange change = compare_one({100}, {150});
  EXPECT_EQ(change.change, Change::inconclusive);
  EXPECT_FALSE(change.smallest_detectable.has_value());
  EXPECT_FALSE(change.rank_p.has_value());
}

TEST(Compare, ReportsRanksFromFiveRoundsOn) {
  EXPECT_FALSE(compare_one({1, 2, 3, 4}, {1, 2, 3, 4}).rank_p.has_value());
  EXPECT_TRUE(compare_one({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}).rank_p.has_value());
}

TEST(Compare, HasStableNamesAndTakesNoPoints) {
  EXPECT_EQ(to_string(Change::slower), "slower");
  EXPECT_EQ(to_string(Change::faster), "faster");
  EXPECT_EQ(to_string(Change::same), "same");
  EXPECT_EQ(to_string(Change::inconclusive), "inconclusive");
  EXPECT_TRUE(compare_points({}).empty());
}

}  // namespace
}  // namespace netbench::stats
