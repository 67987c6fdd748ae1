#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/stats/estimate.hpp"

namespace netbench::stats {

/// after/before as ratio of geometric means of the round medians, by Welch's t on logarithms.
struct WelchRatio {
  Estimate ratio;      ///< no interval where a side has fewer than 2 rounds; n = rounds of both
  double p_value = 1;  ///< two-sided
  double dof = 0;      ///< Welch–Satterthwaite
};

/// All values must be > 0 (otherwise: ratio 1, no interval, p = 1). Identical rounds on both sides
/// (no variance) give p = 1 when the ratio is 1 and p = 0 otherwise.
[[nodiscard]] WelchRatio welch_log_ratio(std::span<const double> before,
                                         std::span<const double> after, double level = 0.95);

/// Benjamini–Hochberg adjusted p-values, in the order given (JRSS B 57 (1995)): rejecting those ≤ f
/// holds the false discovery rate at f.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p_values);

/// Two-sided exact Mann–Whitney p by the permutation distribution of mid-ranks (ties included);
/// normal approximation where both sides together exceed 60 values. 1 where a side is empty.
[[nodiscard]] double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// Which way is worse for a metric.
enum class Worse { higher, lower };

/// One point of a sweep on both sides: its round medians (ns for latency, bit/s for rates).
/// `known_spread` is the point's historical A/A spread (relative), 0 when unknown.
struct ComparePoint {
  std::span<const double> before;
  std::span<const double> after;
  Worse worse = Worse::higher;
  double known_spread = 0;
};

enum class Change { slower, faster, same, inconclusive };

/// "slower", "faster", "same", "inconclusive".
[[nodiscard]] std::string_view to_string(Change change);

struct ComparePolicy {
  double level = 0.95;                ///< of the intervals
  double false_discovery = 0.05;      ///< Benjamini–Hochberg over all points of one call
  double floor = 0.02;                ///< smallest relative change that counts
  double spread_factor = 2;           ///< floor = max(floor, factor × known_spread)
  std::int64_t cross_check_from = 5;  ///< rounds a side from which Mann–Whitney must agree
};

struct PointChange {
  Change change = Change::inconclusive;
  WelchRatio welch;              ///< after/before; p before adjustment
  double adjusted_p = 1;         ///< Benjamini–Hochberg
  std::optional<double> rank_p;  ///< Mann–Whitney, from `cross_check_from` rounds on
  double floor = 0;              ///< relative noise floor used
  /// Rounds a side that would decide with 80 % power if estimate and spread hold; only where
  /// inconclusive, and nothing where a side has < 2 rounds or more than 1,000 would be needed.
  std::optional<std::int64_t> rounds_needed;
  /// Smallest relative change this data would have called with 80 % power; nothing with < 2 rounds.
  std::optional<double> smallest_detectable;
};

/// Verdict a point: slower/faster = rejected by Benjamini–Hochberg, the estimate beyond the floor
/// and no contradiction by ranks; same = interval wholly inside the floor, 1/(1+f) … 1+f;
/// else inconclusive. Give all points of one metric in one call: the correction spans the call.
[[nodiscard]] std::vector<PointChange> compare_points(std::span<const ComparePoint> points,
                                                      const ComparePolicy& policy = {});

}  // namespace netbench::stats
