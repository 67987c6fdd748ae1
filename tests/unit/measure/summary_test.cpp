#include "bench/measure/summary.hpp"

#include <gtest/gtest.h>

namespace netbench::measure {
namespace {

Round stream_round(std::uint32_t index, double forward_bps) {
  Round round;
  round.index = index;
  StreamRecord record;
  record.goodput_bps = forward_bps;
  record.measured_ns = 1'000'000'000;
  record.messages = 1000;
  record.stop_reason = "converged";
  round.forward = record;
  return round;
}

Measurement stream_row(std::initializer_list<double> rates) {
  Measurement row;
  row.direction = Direction::forward;
  std::uint32_t index = 0;
  for (const double rate : rates) {
    row.rounds.push_back(stream_round(index++, rate));
  }
  return row;
}

TEST(Summary, IsTheMedianOfRoundsWithAnIntervalAroundIt) {
  const Summary summary = summarize(stream_row({9.3e9, 9.4e9, 9.5e9}));
  EXPECT_EQ(summary.n_rounds, 3U);
  EXPECT_DOUBLE_EQ(*summary.goodput_bps, 9.4e9);
  EXPECT_LT(*summary.goodput_low_bps, 9.3e9);
  EXPECT_GT(*summary.goodput_high_bps, 9.5e9);
}

TEST(Summary, HasNoIntervalFromOneRound) {
  const Summary summary = summarize(stream_row({9.4e9}));
  EXPECT_FALSE(summary.goodput_low_bps.has_value());
}

TEST(Summary, AddsBothDirectionsOfARound) {
  Measurement row = stream_row({4e9, 4e9});
  row.direction = Direction::both;
  for (Round& round : row.rounds) {
    round.reverse = round.forward;
    round.reverse->goodput_bps = 5e9;
  }
  const Summary summary = summarize(row);
  EXPECT_DOUBLE_EQ(*summary.goodput_bps, 9e9);
  EXPECT_DOUBLE_EQ(*summary.forward_bps, 4e9);
  EXPECT_DOUBLE_EQ(*summary.reverse_bps, 5e9);
}

TEST(Summary, TellsRealRetransmitsFromSpuriousOnes) {
  Measurement row = stream_row({1e9});
  row.rounds[0].initiator.counters = {{"tcp_info.total_retrans", 10}, {"tcp_info.dsack_dups", 4}};
  const Summary summary = summarize(row);
  EXPECT_DOUBLE_EQ(*summary.retransmitted_segments, 6);
  EXPECT_DOUBLE_EQ(*summary.spurious_retransmits, 4);
}

TEST(Summary, NeverCountsNegativeRetransmits) {
  Measurement row = stream_row({1e9});
  row.rounds[0].initiator.counters = {{"tcp_info.total_retrans", 1}, {"tcp_info.dsack_dups", 4}};
  EXPECT_DOUBLE_EQ(*summarize(row).retransmitted_segments, 0);
}

TEST(Summary, DividesCpuTimeByReceivedGigabytes) {
  Measurement row = stream_row({1e9});
  row.rounds[0].responder.counters = {{"payload.received_bytes", 2e9}};
  row.rounds[0].initiator.cpu_s = 0.4;
  row.rounds[0].responder.cpu_s = 0.6;
  const Summary summary = summarize(row);
  EXPECT_DOUBLE_EQ(*summary.cpu_s_per_gb_initiator, 0.2);
  EXPECT_DOUBLE_EQ(*summary.cpu_s_per_gb_responder, 0.3);
}

TEST(Summary, ReportsAQuantileOnlyWithTenSamplesBeyondIt) {
  Measurement row;
  Round round;
  LatencyRecord record;
  for (std::uint64_t i = 0; i < 999; ++i) {
    record.histogram.record(1000 + i);
  }
  record.median_ns = 1500;
  round.latency = record;
  row.rounds = {round};
  EXPECT_TRUE(summarize(row).rtt_p90_ns.has_value());
  EXPECT_FALSE(summarize(row).rtt_p99_ns.has_value());
  row.rounds.push_back(round);
  EXPECT_TRUE(summarize(row).rtt_p99_ns.has_value());
  EXPECT_FALSE(summarize(row).rtt_p999_ns.has_value());
}

TEST(RowFlags, AreThoseOfTheRowAndOfAllRounds) {
  Measurement row = stream_row({1e9, 1e9});
  row.flags = {"capped"};
  row.rounds[1].flags = {"foreign_load"};
  EXPECT_EQ(row_flags(row), (std::set<std::string>{"capped", "foreign_load"}));
}

}  // namespace
}  // namespace netbench::measure
