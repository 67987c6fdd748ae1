#pragma once

namespace netbench::stats {

/// Standard normal distribution function.
[[nodiscard]] double normal_cdf(double z);

/// Its inverse for 0 < p < 1, to about 1e-14: a rational start (Abramowitz & Stegun 26.2.23), then
/// Halley steps on erfc. p ≤ 0 and p ≥ 1 give the largest finite doubles, not infinities.
[[nodiscard]] double normal_quantile(double p);

/// Regularised incomplete beta function I_x(a, b), a, b > 0, x clamped to [0, 1], by its continued
/// fraction (DLMF 8.17.22) with the modified Lentz method.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

/// P(|T| ≥ |t|) for Student's t with real `dof` > 0 (A&S 26.7.1); normal above 1e6 degrees.
[[nodiscard]] double student_t_two_sided_p(double t, double dof);

/// Two-sided critical value: P(|T| ≤ result) = level, 0 < level < 1; so (0.95, 19) → 2.0930.
[[nodiscard]] double student_t_critical(double level, double dof);

/// Quantile: P(T ≤ result) = p, 0 < p < 1.
[[nodiscard]] double student_t_quantile(double p, double dof);

}  // namespace netbench::stats
