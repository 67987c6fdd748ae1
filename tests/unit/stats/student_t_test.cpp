#include "bench/stats/student_t.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace netbench::stats {
namespace {

TEST(NormalQuantile, MatchesPublishedValues) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(normal_quantile(0.995), 2.575829303548901, 1e-13);
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-13);
  EXPECT_NEAR(normal_quantile(1e-9), -5.997807015007687, 1e-11);
}

TEST(NormalQuantile, StaysFiniteAtTheEnds) {
  EXPECT_TRUE(std::isfinite(normal_quantile(0)));
  EXPECT_TRUE(std::isfinite(normal_quantile(1)));
  EXPECT_TRUE(std::isfinite(normal_quantile(std::nan(""))));
}

TEST(IncompleteBeta, MatchesClosedForms) {
  for (double x = 0; x <= 1; x += 0.05) {
    EXPECT_NEAR(incomplete_beta(1, 1, x), x, 1e-14);
    EXPECT_NEAR(incomplete_beta(2, 1, x), x * x, 1e-14);
    EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), 2 / M_PI * std::asin(std::sqrt(x)), 1e-13);
    EXPECT_NEAR(incomplete_beta(3.7, 9.2, x), 1 - incomplete_beta(9.2, 3.7, 1 - x), 1e-13);
  }
}

TEST(StudentT, MatchesThePublishedTable) {
  // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
  struct Row {
    double level;
    double dof;
    double critical;
  };
  const std::vector<Row> rows{{0.95, 1, 12.706}, {0.95, 2, 4.303},  {0.95, 4, 2.776},
                              {0.95, 8, 2.306},  {0.95, 19, 2.093}, {0.95, 100, 1.984},
                              {0.99, 1, 63.657}, {0.99, 5, 4.032},  {0.99, 19, 2.861},
                              {0.80, 10, 1.372}, {0.90, 30, 1.697}, {0.998, 3, 10.215}};
  for (const Row& row : rows) {
    EXPECT_NEAR(student_t_critical(row.level, row.dof), row.critical, 6e-4)
        << row.level << " " << row.dof;
  }
}

TEST(StudentT, MatchesClosedFormsForOneAndTwoDegrees) {
  for (const double t : {0.0, 0.1, 1.0, 3.0, 50.0, 1e6}) {
    EXPECT_NEAR(student_t_two_sided_p(t, 1), 1 - 2 / M_PI * std::atan(t), 1e-13);
    EXPECT_NEAR(student_t_two_sided_p(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-13);
  }
}

TEST(StudentT, HasCriticalValuesThatInvertTheDistribution) {
  for (const double dof : {1.0, 2.5, 7.3, 19.0, 4e3, 1e6, 1e9}) {
    for (const double level : {0.01, 0.5, 0.8, 0.95, 0.999, 0.999999}) {
      const double p = student_t_two_sided_p(student_t_critical(level, dof), dof);
      EXPECT_NEAR(p / (1 - level), 1, 1e-8) << level << " " << dof;
    }
  }
}

TEST(StudentT, HasSymmetricQuantiles) {
  EXPECT_NEAR(student_t_quantile(0.975, 19), 2.093024, 1e-6);
  EXPECT_DOUBLE_EQ(student_t_quantile(0.1, 5), -student_t_quantile(0.9, 5));
  EXPECT_NEAR(student_t_quantile(0.5, 5), 0, 1e-13);
}

TEST(StudentT, CallsAnInfiniteStatisticImpossible) {
  EXPECT_EQ(student_t_two_sided_p(HUGE_VAL, 4), 0.0);
}

}  // namespace
}  // namespace netbench::stats
