#include "bench/stats/student_t.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace netbench::stats {

namespace {

constexpr double kNormalDof = 1e6;  // above it, t and normal agree to 1e-6

/// Upper-tail start for normal_quantile: A&S 26.2.23, |error| < 4.5e-4, for 0 < p ≤ 0.5.
double rough_upper_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  const double numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const double denominator = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return t - numerator / denominator;
}

/// z with P(Z > z) = p for 0 < p ≤ 0.5.
double upper_quantile(double p) {
  constexpr int kSteps = 3;
  double z = rough_upper_quantile(p);
  for (int i = 0; i < kSteps; ++i) {
    const double excess = normal_cdf(-z) - p;
    const double step = excess * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
    z += step / (1 - z * step / 2);
  }
  return z;
}

/// Lentz's guard against division by zero.
double away_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

/// 1 + d1/(1 + d2/(1 + …)) of DLMF 8.17.22, by the modified Lentz method.
double beta_fraction(double a, double b, double x) {
  constexpr int kMaxTerms = 10'000;
  double fraction = 1;
  double c = 1;
  double d = 0;
  for (int j = 1; j <= kMaxTerms; ++j) {
    const double m = (j - j % 2) / 2.0;
    const double term = j % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                   : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + term * d);
    c = away_from_zero(1 + term / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-16) {
      break;
    }
  }
  return fraction;
}

/// log of x^a (1-x)^b / B(a, b), with the complement given to keep its digits.
double log_beta_power(double a, double b, double x, double complement) {
  return a * std::log(x) + b * std::log(complement) + std::lgamma(a + b) - std::lgamma(a) -
         std::lgamma(b);
}

/// I_x(a, b) where both x and 1-x are known exactly.
double beta_with_complement(double a, double b, double x, double complement) {
  if (x <= 0) {
    return 0;
  }
  if (complement <= 0) {
    return 1;
  }
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - beta_with_complement(b, a, complement, x);
  }
  return std::exp(log_beta_power(a, b, x, complement)) / a / beta_fraction(a, b, x);
}

double t_density(double t, double dof) {
  const double scale = std::lgamma((dof + 1) / 2) - std::lgamma(dof / 2);
  return std::exp(scale - (dof + 1) / 2 * std::log1p(t * t / dof)) /
         std::sqrt(dof * std::numbers::pi);
}

}  // namespace

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double normal_quantile(double p) {
  if (!(p > 0)) {
    return std::numeric_limits<double>::lowest();
  }
  if (p >= 1) {
    return std::numeric_limits<double>::max();
  }
  return p < 0.5 ? -upper_quantile(p) : upper_quantile(1 - p);
}

double incomplete_beta(double a, double b, double x) {
  const double inside = std::clamp(x, 0.0, 1.0);
  return beta_with_complement(a, b, inside, 1 - inside);
}

double student_t_two_sided_p(double t, double dof) {
  if (dof > kNormalDof) {
    return 2 * normal_cdf(-std::abs(t));
  }
  const double square = t * t;
  if (!std::isfinite(square)) {
    return 0;
  }
  const double x = dof / (dof + square);
  return beta_with_complement(dof / 2, 0.5, x, square / (dof + square));
}

double student_t_critical(double level, double dof) {
  const double alpha = 1 - level;
  double t = normal_quantile(1 - alpha / 2);
  if (dof > kNormalDof) {
    return t;
  }
  // P(|T| ≥ t) is convex and t starts left of the root (t's tails are heavier than the normal's),
  // so Newton's method climbs to it without overshooting.
  constexpr int kMaxSteps = 200;
  for (int i = 0; i < kMaxSteps; ++i) {
    const double step = (student_t_two_sided_p(t, dof) - alpha) / (2 * t_density(t, dof));
    t += step;
    if (std::abs(step) <= 1e-13 * t) {
      break;
    }
  }
  return t;
}

double student_t_quantile(double p, double dof) {
  const double magnitude = student_t_critical(std::abs(2 * p - 1), dof);
  return p < 0.5 ? -magnitude : magnitude;
}

}  // namespace netbench::stats
