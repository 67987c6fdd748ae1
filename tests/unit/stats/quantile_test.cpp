#include "bench/stats/quantile.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bench/stats/moments.hpp"

namespace netbench::stats {
namespace {

TEST(Quantile, InterpolatesAsTypeSeven) {
  const std::vector<double> values{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);  // R: quantile(c(10,20,30,40), .25)
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 37);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
}

TEST(Quantile, ClampsQAndAnswersZeroForNothing) {
  const std::vector<double> values{1, 2};
  EXPECT_DOUBLE_EQ(quantile(values, -3), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 3), 2);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5, 1, 3, 4}), 3.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(Moments, MatchHandComputedValues) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values), 5);
  EXPECT_DOUBLE_EQ(sample_variance(values), 32.0 / 7);
  EXPECT_DOUBLE_EQ(sample_variance(std::vector<double>{3}), 0);
  EXPECT_DOUBLE_EQ(mean({}), 0);
}

TEST(Moments, TellValuesThatHaveALogarithm) {
  EXPECT_TRUE(all_positive(std::vector<double>{1, 2}));
  EXPECT_FALSE(all_positive(std::vector<double>{1, 0}));
  EXPECT_FALSE(all_positive(std::vector<double>{1, -1}));
}

}  // namespace
}  // namespace netbench::stats
