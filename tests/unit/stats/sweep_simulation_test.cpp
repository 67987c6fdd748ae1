// Compare on simulated sweeps of 30 points: how often it raises a false alarm, and how often it
// finds a true slowdown of 5 %.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/stats/compare.hpp"
#include "bench/stats/quantile.hpp"
#include "tests/unit/stats/simulate.hpp"

namespace netbench::stats {
namespace {

constexpr std::size_t kPoints = 30;
constexpr std::size_t kRounds = 5;
constexpr std::size_t kSweeps = 200;
constexpr double kSlowdown = 1.05;

using Sweep = std::vector<std::vector<double>>;  // [point][round]

/// Round medians that vary by `spread` (relative standard deviation) from round to round.
Sweep sweep(Rng& rng, double spread) {
  Sweep points(kPoints, std::vector<double>(kRounds));
  for (auto& rounds : points) {
    for (double& round : rounds) {
      round = 10'000 * std::exp(spread * rng.normal());
    }
  }
  return points;
}

/// As above, each round median taken from 640 samples with 10 % deviation and 1 % spikes.
Sweep measured_sweep(Rng& rng, double spread) {
  Sweep points = sweep(rng, spread);
  for (auto& rounds : points) {
    for (double& round : rounds) {
      std::vector<double> samples = testing::LatencyModel(rng.next(), 0.0).take(640);
      round *= median_inplace(samples) / testing::LatencyModel::kBodyMedianNs;
    }
  }
  return points;
}

void slow_down(Sweep& points, std::size_t how_many) {
  for (std::size_t i = 0; i < how_many; ++i) {
    for (double& round : points[i]) {
      round *= kSlowdown;
    }
  }
}

std::vector<PointChange> compare(const Sweep& before, const Sweep& after) {
  std::vector<ComparePoint> points;
  for (std::size_t i = 0; i < before.size(); ++i) {
    points.push_back({.before = before[i], .after = after[i]});
  }
  return compare_points(points);
}

struct Tally {
  std::size_t sweeps_with_false_alarm = 0;
  std::size_t false_alarms = 0;
  std::size_t found = 0;
};

void count(Tally& tally, const std::vector<PointChange>& changes, std::size_t slowed) {
  std::size_t false_alarms = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change change = changes[i].change;
    if (i < slowed) {
      tally.found += change == Change::slower ? 1U : 0U;
    } else {
      false_alarms += change == Change::slower || change == Change::faster ? 1U : 0U;
    }
  }
  tally.false_alarms += false_alarms;
  tally.sweeps_with_false_alarm += false_alarms > 0 ? 1U : 0U;
}

template <class MakeSweep>
Tally simulate(MakeSweep make, double spread, std::size_t slowed, std::uint64_t seed) {
  Rng rng(seed);
  Tally tally;
  for (std::size_t i = 0; i < kSweeps; ++i) {
    const Sweep before = make(rng, spread);
    Sweep after = make(rng, spread);
    slow_down(after, slowed);
    count(tally, compare(before, after), slowed);
  }
  return tally;
}

TEST(SweepSimulation, RaisesAFalseAlarmInAtMostOneAASweepOfTen) {
  for (const double spread : {0.01, 0.02, 0.05}) {
    const Tally tally = simulate(sweep, spread, 0, 1);
    const double rate = testing::share(tally.sweeps_with_false_alarm, kSweeps);
    RecordProperty("false_alarm_at_" + std::to_string(spread), std::to_string(rate));
    EXPECT_LE(rate, 0.10) << "rounds vary by " << spread;
  }
}

TEST(SweepSimulation, RaisesAFalseAlarmInAtMostOneMeasuredAASweepOfTen) {
  const Tally tally = simulate(measured_sweep, 0.01, 0, 2);
  EXPECT_LE(testing::share(tally.sweeps_with_false_alarm, kSweeps), 0.10);
}

TEST(SweepSimulation, FindsOneSlowPointOfThirtyWhereRoundsVaryByOnePercent) {
  const Tally tally = simulate(sweep, 0.01, 1, 3);
  RecordProperty("found", std::to_string(testing::share(tally.found, kSweeps)));
  EXPECT_GE(testing::share(tally.found, kSweeps), 0.80);
  EXPECT_LE(testing::share(tally.false_alarms, kSweeps), 0.10);
}

TEST(SweepSimulation, FindsOneSlowPointOfThirtyInMeasuredRounds) {
  const Tally tally = simulate(measured_sweep, 0.01, 1, 4);
  RecordProperty("found", std::to_string(testing::share(tally.found, kSweeps)));
  EXPECT_GE(testing::share(tally.found, kSweeps), 0.80);
}

TEST(SweepSimulation, FindsAllSlowPointsWhereRoundsVaryByTwoPercent) {
  const Tally tally = simulate(sweep, 0.02, kPoints, 5);
  RecordProperty("found", std::to_string(testing::share(tally.found, kSweeps * kPoints)));
  EXPECT_GE(testing::share(tally.found, kSweeps * kPoints), 0.80);
}

}  // namespace
}  // namespace netbench::stats
