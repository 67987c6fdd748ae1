// A whole sweep on the simulated transport.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/measure/bench.hpp"

namespace netbench::measure {
namespace {

using test::Bench;

const Measurement& row_of(const std::vector<Measurement>& rows, std::string_view workload) {
  return *std::ranges::find(rows, workload, &Measurement::workload);
}

TEST(Sweep, MeasuresEveryPointInEveryRound) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  ASSERT_TRUE(bench.sweep(plan, rows));
  ASSERT_EQ(rows.size(), plan.points.size());
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.status, MeasurementStatus::ok) << row.id;
    EXPECT_EQ(row.rounds.size(), 3U) << row.id;
    EXPECT_EQ(row.summary.n_rounds, 3U) << row.id;
  }
  EXPECT_TRUE(row_of(rows, "latency").summary.rtt_p50_ns.has_value());
  EXPECT_GT(row_of(rows, "bandwidth").summary.goodput_bps.value_or(0), 0);
}

TEST(Sweep, TakesVirtualTimeNotRealTime) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  const std::int64_t began = monotonic_ns();
  ASSERT_TRUE(bench.sweep(plan, rows));
  const std::int64_t real_ns = monotonic_ns() - began;
  std::int64_t virtual_ns = 0;
  for (const Measurement& row : rows) {
    for (const Round& round : row.rounds) {
      virtual_ns += round.latency ? round.latency->measured_ns : 0;
      virtual_ns += round.forward ? round.forward->measured_ns : 0;
    }
  }
  EXPECT_LT(real_ns, virtual_ns);
}

TEST(Sweep, KeepsTheRoundsThatRowsAlreadyHave) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(3);
  std::vector<Measurement> rows = empty_rows(plan);
  ASSERT_TRUE(bench.sweep(plan, rows));
  const std::size_t visits = bench.sink.visits;
  rows.front().rounds.erase(rows.front().rounds.begin() + 1);
  ASSERT_TRUE(bench.sweep(plan, rows));
  EXPECT_EQ(bench.sink.visits, visits + 1);
  EXPECT_EQ(rows.front().rounds.size(), 3U);
}

TEST(Sweep, EndsWithItsRowsWhenInterrupted) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(5);
  std::vector<Measurement> rows = empty_rows(plan);
  bench.sink.on_visit = [&](std::size_t visit) { bench.interrupted = visit > plan.points.size(); };
  const Status done = bench.sweep(plan, rows);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().exit_class, ExitClass::interrupted);
  EXPECT_EQ(rows.front().rounds.size(), 1U);
}

TEST(Sweep, KeepsItsRowsWhenThePeerIsLost) {
  Bench bench;
  const plan::SweepPlan plan = bench.plan(5);
  std::vector<Measurement> rows = empty_rows(plan);
  bench.sink.on_visit = [&](std::size_t visit) {
    if (visit == plan.points.size() + 1) {
      bench.channel().close();
    }
  };
  ASSERT_FALSE(bench.sweep(plan, rows));
  EXPECT_EQ(rows.front().rounds.size(), 1U);
  EXPECT_EQ(rows.front().status, MeasurementStatus::ok);
}

}  // namespace
}  // namespace netbench::measure
