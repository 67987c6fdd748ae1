#include "report/bounds/rfc6349.hpp"

#include <gtest/gtest.h>

namespace netbench::report {
namespace {

Measurement stream(Direction direction = Direction::forward) {
  Measurement row;
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = direction;
  row.summary.goodput_bps = 50e6;
  row.summary.ceiling_bps = 95e6;
  row.rounds.resize(2);
  for (Round& round : row.rounds) {
    Counters& sender =
        direction == Direction::reverse ? round.responder.counters : round.initiator.counters;
    sender = {{"tcp_info.bytes_sent", 100'000'000.0},
              {"tcp_info.bytes_retrans", 2'000'000.0},
              {"tcp_info.rtt_us", 32'000.0},
              {"tcp_info.min_rtt_us", 10'000.0}};
  }
  return row;
}

/// RFC 6349, section 4.1: 11.6 s against 11.4 s and the like; here rates.
TEST(Rfc6349, RatesTheTransferAgainstTheWire) {
  const auto metrics = rfc6349_of(stream());
  ASSERT_TRUE(metrics);
  EXPECT_DOUBLE_EQ(metrics->transfer_time_ratio.value(), 1.9);
  EXPECT_TRUE(metrics->note.empty());
}

/// RFC 6349, section 4.2: 102,000 sent of which 2,000 again are 98.03 %.
TEST(Rfc6349, CountsWhatWasSentAgain) {
  Measurement row = stream(Direction::reverse);
  for (Round& round : row.rounds) {
    round.responder.counters["tcp_info.bytes_sent"] = 102'000;
    round.responder.counters["tcp_info.bytes_retrans"] = 2'000;
  }
  EXPECT_NEAR(rfc6349_of(row)->tcp_efficiency.value(), 0.9804, 1e-4);
}

/// RFC 6349, section 4.3: 32 ms against 25 ms are 28 %.
TEST(Rfc6349, ComparesTheRoundTripUnderLoadWithTheBase) {
  Measurement row = stream();
  for (Round& round : row.rounds) {
    round.initiator.counters["tcp_info.min_rtt_us"] = 25'000;
  }
  EXPECT_NEAR(rfc6349_of(row)->buffer_delay.value(), 0.28, 1e-9);
}

TEST(Rfc6349, SaysWhyAMetricIsUnknown) {
  Measurement row = stream();
  row.summary.ceiling_bps.reset();
  row.rounds[1].initiator.counters.erase("tcp_info.bytes_retrans");
  for (Round& round : row.rounds) {
    round.initiator.counters.erase("tcp_info.min_rtt_us");
  }
  add_rfc6349(row);
  EXPECT_FALSE(row.summary.transfer_time_ratio || row.summary.tcp_efficiency ||
               row.summary.buffer_delay);
  for (const char* metric : {"transfer time ratio", "TCP efficiency", "buffer delay"}) {
    EXPECT_NE(row.summary.rfc6349_note->find(std::string(metric) + " unknown, because"),
              std::string::npos)
        << metric;
  }
}

TEST(Rfc6349, TakesTheWorseEndWhereBothSend) {
  Measurement row = stream(Direction::both);
  for (Round& round : row.rounds) {
    round.responder.counters = round.initiator.counters;
    round.responder.counters["tcp_info.rtt_us"] = 60'000;
  }
  EXPECT_DOUBLE_EQ(rfc6349_of(row)->buffer_delay.value(), 5);
}

TEST(Rfc6349, IsForTcpStreamsAlone) {
  Measurement row = stream();
  row.transport = "udp";
  EXPECT_FALSE(rfc6349_of(row));
  row = stream();
  row.workload = "latency";
  EXPECT_FALSE(rfc6349_of(row));
}

}  // namespace
}  // namespace netbench::report
