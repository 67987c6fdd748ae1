#include "bench/stats/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "bench/stats/moments.hpp"
#include "bench/stats/student_t.hpp"

namespace netbench::stats {

namespace {

constexpr double kPower = 0.8;
constexpr std::int64_t kMaxRounds = 1000;
constexpr double kRankAlpha = 0.05;

struct ChangeName {
  Change change;
  std::string_view name;
};

constexpr std::array<ChangeName, 4> kChangeNames{{{Change::slower, "slower"},
                                                  {Change::faster, "faster"},
                                                  {Change::same, "same"},
                                                  {Change::inconclusive, "inconclusive"}}};

/// Mean, and variance of the mean, of one side's log round medians.
struct Side {
  double mean;
  double variance;
  double n;
};

Side summarise(std::span<const double> values) {
  const std::vector<double> logarithms = logs(values);
  return {mean(logarithms), sample_variance(logarithms), static_cast<double>(values.size())};
}

double welch_dof(const Side& a, const Side& b) {
  const double va = a.variance / a.n;
  const double vb = b.variance / b.n;
  const double pooled = a.n + b.n - 2;
  const double denominator = va * va / (a.n - 1) + vb * vb / (b.n - 1);
  return denominator > 0 ? std::clamp((va + vb) * (va + vb) / denominator, 1.0, pooled) : pooled;
}

double standard_error(const Side& a, const Side& b) {
  return std::sqrt(a.variance / a.n + b.variance / b.n);
}

double p_of_difference(double difference, double error, double dof) {
  if (error > 0) {
    return student_t_two_sided_p(difference / error, dof);
  }
  return difference == 0 ? 1.0 : 0.0;
}

/// What the verdict on one point needs, on the log scale.
struct Evidence {
  double difference;  ///< log ratio
  double deviation;   ///< of one round, pooled over both sides
  double error;       ///< standard error of the difference
  double dof;
  double floor;  ///< log of 1 + relative floor
};

bool enough_rounds(const ComparePoint& point) {
  return point.before.size() >= 2 && point.after.size() >= 2 && all_positive(point.before) &&
         all_positive(point.after);
}

Evidence weigh(const ComparePoint& point, double floor) {
  const Side before = summarise(point.before);
  const Side after = summarise(point.after);
  return {.difference = after.mean - before.mean,
          .deviation = std::sqrt((before.variance + after.variance) / 2),
          .error = standard_error(before, after),
          .dof = welch_dof(before, after),
          .floor = std::log1p(floor)};
}

/// Multiple of the standard error that a true change must have to be seen with kPower.
double detection_factor(double alpha, double dof) {
  return student_t_critical(1 - alpha, dof) + student_t_quantile(kPower, dof);
}

/// Would `rounds` a side decide the point, if estimate and spread stayed as they are?
bool decides(const Evidence& evidence, double rounds, double alpha, double level) {
  const double error = evidence.deviation * std::sqrt(2 / rounds);
  const double dof = 2 * rounds - 2;
  const double size = std::abs(evidence.difference);
  if (size <= evidence.floor) {
    return detection_factor(1 - level, dof) * error <= evidence.floor - size;
  }
  return detection_factor(alpha, dof) * error <= size &&
         student_t_quantile(kPower, dof) * error <= size - evidence.floor;
}

std::optional<std::int64_t> rounds_to_decide(const Evidence& evidence, std::int64_t rounds_now,
                                             double alpha, double level) {
  const auto enough = [&](std::int64_t rounds) {
    return decides(evidence, static_cast<double>(rounds), alpha, level);
  };
  if (!enough(kMaxRounds)) {
    return std::nullopt;
  }
  std::int64_t low = std::min(rounds_now, kMaxRounds - 1);
  std::int64_t high = kMaxRounds;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

double smallest_change(const Evidence& evidence, double alpha) {
  const double seen = detection_factor(alpha, evidence.dof) * evidence.error;
  const double beyond = evidence.floor + student_t_quantile(kPower, evidence.dof) * evidence.error;
  return std::expm1(std::max(seen, beyond));
}

bool ranks_agree(const PointChange& point) { return !point.rank_p || *point.rank_p <= kRankAlpha; }

bool inside_floor(const PointChange& point) {
  const Estimate& ratio = point.welch.ratio;
  return ratio.has_interval && ratio.low >= 1 / (1 + point.floor) && ratio.high <= 1 + point.floor;
}

Change judge(const PointChange& point, Worse worse, double false_discovery) {
  const double difference = std::log(point.welch.ratio.value);
  const bool beyond = std::abs(difference) > std::log1p(point.floor);
  if (point.adjusted_p <= false_discovery && beyond && ranks_agree(point)) {
    return (difference > 0) == (worse == Worse::higher) ? Change::slower : Change::faster;
  }
  return inside_floor(point) ? Change::same : Change::inconclusive;
}

PointChange test_point(const ComparePoint& point, const ComparePolicy& policy) {
  PointChange change;
  change.welch = welch_log_ratio(point.before, point.after, policy.level);
  change.floor = std::max(policy.floor, policy.spread_factor * point.known_spread);
  const auto fewest = static_cast<std::int64_t>(std::min(point.before.size(), point.after.size()));
  if (fewest >= policy.cross_check_from) {
    change.rank_p = mann_whitney_p(point.before, point.after);
  }
  return change;
}

/// Fills in what more rounds could do. `alpha` is the level that the next rejection has to pass.
void plan_ahead(PointChange& change, const ComparePoint& point, const ComparePolicy& policy,
                double alpha) {
  if (!enough_rounds(point)) {
    return;
  }
  const Evidence evidence = weigh(point, change.floor);
  change.smallest_detectable = smallest_change(evidence, alpha);
  if (change.change == Change::inconclusive) {
    const auto most = static_cast<std::int64_t>(std::max(point.before.size(), point.after.size()));
    change.rounds_needed = rounds_to_decide(evidence, most, alpha, policy.level);
  }
}

void adjust_p_values(std::vector<PointChange>& changes) {
  std::vector<double> p_values(changes.size());
  std::transform(changes.begin(), changes.end(), p_values.begin(),
                 [](const PointChange& change) { return change.welch.p_value; });
  const std::vector<double> adjusted = benjamini_hochberg(p_values);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i].adjusted_p = adjusted[i];
  }
}

/// The Benjamini–Hochberg threshold that one more rejected point would have to pass.
double next_threshold(const std::vector<PointChange>& changes, double false_discovery) {
  const auto rejected = std::count_if(
      changes.begin(), changes.end(),
      [false_discovery](const PointChange& c) { return c.adjusted_p <= false_discovery; });
  const auto n = static_cast<double>(changes.size());
  return false_discovery * std::min(static_cast<double>(rejected) + 1, n) / n;
}

}  // namespace

std::string_view to_string(Change change) {
  const auto* row = std::find_if(kChangeNames.begin(), kChangeNames.end(),
                                 [change](const ChangeName& r) { return r.change == change; });
  return row == kChangeNames.end() ? std::string_view{} : row->name;
}

WelchRatio welch_log_ratio(std::span<const double> before, std::span<const double> after,
                           double level) {
  WelchRatio result;
  result.ratio = {.value = 1, .low = 1, .high = 1, .level = level};
  result.ratio.n = static_cast<std::int64_t>(before.size() + after.size());
  if (before.empty() || after.empty() || !all_positive(before) || !all_positive(after)) {
    return result;
  }
  const Side a = summarise(before);
  const Side b = summarise(after);
  const double difference = b.mean - a.mean;
  result.ratio.value = result.ratio.low = result.ratio.high = std::exp(difference);
  if (before.size() < 2 || after.size() < 2) {
    return result;
  }
  const double error = standard_error(a, b);
  result.dof = welch_dof(a, b);
  result.p_value = p_of_difference(difference, error, result.dof);
  const double half = student_t_critical(level, result.dof) * error;
  result.ratio.low = std::exp(difference - half);
  result.ratio.high = std::exp(difference + half);
  result.ratio.has_interval = true;
  return result;
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  const std::size_t n = p_values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(n);
  double smallest = 1;
  for (std::size_t rank = n; rank > 0; --rank) {
    const std::size_t index = order[rank - 1];
    smallest =
        std::min(smallest, p_values[index] * static_cast<double>(n) / static_cast<double>(rank));
    adjusted[index] = smallest;
  }
  return adjusted;
}

std::vector<PointChange> compare_points(std::span<const ComparePoint> points,
                                        const ComparePolicy& policy) {
  std::vector<PointChange> changes;
  changes.reserve(points.size());
  std::transform(points.begin(), points.end(), std::back_inserter(changes),
                 [&policy](const ComparePoint& point) { return test_point(point, policy); });
  adjust_p_values(changes);
  const double alpha = next_threshold(changes, policy.false_discovery);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i].change = judge(changes[i], points[i].worse, policy.false_discovery);
    plan_ahead(changes[i], points[i], policy, alpha);
  }
  return changes;
}

}  // namespace netbench::stats
