#include <gtest/gtest.h>

#include <tuple>

#include "tests/unit/tcp/pair.hpp"

namespace netbench::tcp::test {
namespace {

/// Runs one window on each end at once, then stops both; every call must succeed.
void run_and_stop(Pair& pair, std::int64_t window_ns = 50 * kMillisecond) {
  auto responding =
      std::async(std::launch::async, [&] { return pair.responder().run(0, window_ns); });
  EXPECT_EQ(pair.initiator().run(0, window_ns).message, "");
  EXPECT_EQ(responding.get().message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message, "");
  EXPECT_EQ(responded.message, "");
}

void expect_exact_bytes(Pair& pair) {
  auto initiator = pair.initiator().counters();
  auto responder = pair.responder().counters();
  EXPECT_EQ(initiator["payload.sent_bytes"], responder["payload.received_bytes"]);
  EXPECT_EQ(responder["payload.sent_bytes"], initiator["payload.received_bytes"]);
  EXPECT_GT(initiator["payload.sent_bytes"] + responder["payload.sent_bytes"], 0);
}

using Way = std::tuple<int, int, nb_direction>;  // mode, receive, direction
class StreamWays : public testing::TestWithParam<Way> {};

TEST_P(StreamWays, DeliverEveryByteThatWasSent) {
  const auto [mode, receive, direction] = GetParam();
  Pair pair({.direction = direction,
             .message_bytes = 100'001,
             .values = {{"mode", mode, ""}, {"receive", receive, ""}, {"streams", 2, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  expect_exact_bytes(pair);
}

INSTANTIATE_TEST_SUITE_P(Tcp, StreamWays,
                         testing::Combine(testing::Values(0, 1, 2, 3), testing::Values(0, 1),
                                          testing::Values(NB_FORWARD, NB_REVERSE, NB_BOTH)));

TEST(TcpStream, CountsWindowBytesOnTheReceivingEndOnly) {
  Pair pair({.direction = NB_FORWARD});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  EXPECT_EQ(pair.initiator().result().bytes, 0);
  EXPECT_GT(pair.responder().result().bytes, 0);
  EXPECT_GE(pair.responder().result().end_ns - pair.responder().result().begin_ns,
            50 * kMillisecond);
}

TEST(TcpStream, CountsWindowBytesOnTheInitiatorInReverse) {
  Pair pair({.direction = NB_REVERSE});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  EXPECT_GT(pair.initiator().result().bytes, 0);
  EXPECT_EQ(pair.responder().result().bytes, 0);
}

TEST(TcpStream, GoesOnBetweenBatches) {
  Pair pair({.direction = NB_FORWARD});
  ASSERT_EQ(pair.connect().message, "");
  auto sending = std::async(std::launch::async, [&] { return pair.initiator().run(0, 0); });
  double total = 0;
  for (int window = 0; window < 3; ++window) {
    ASSERT_EQ(pair.responder().run(0, 20 * kMillisecond).message, "");
    EXPECT_GT(pair.responder().result().bytes, 0);
    total += static_cast<double>(pair.responder().result().bytes);
  }
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message, "");
  EXPECT_EQ(sending.get().message, "");
  EXPECT_LE(total, pair.responder().counters()["payload.received_bytes"]);
  expect_exact_bytes(pair);
}

TEST(TcpStream, RunsSixtyFourStreams) {
  Pair pair({.values = {{"streams", 64, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  expect_exact_bytes(pair);
  EXPECT_EQ(pair.initiator().counters().count("thread.63.cpu_s"), 1u);
}

TEST(TcpStream, SendsMessagesLargerThanItsBuffers) {
  for (const int mode : {0, 1, 2, 3}) {
    Pair pair({.message_bytes = 3'000'000,
               .values = {{"sndbuf", 8192, ""}, {"rcvbuf", 8192, ""}, {"mode", mode, ""}}});
    ASSERT_EQ(pair.connect().message, "");
    run_and_stop(pair);
    expect_exact_bytes(pair);
  }
}

TEST(TcpStream, StopsWithoutEverHavingRun) {
  Pair pair({.direction = NB_BOTH});
  ASSERT_EQ(pair.connect().message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message, "");
  EXPECT_EQ(pair.initiator().counters()["payload.sent_bytes"],
            pair.responder().counters()["payload.received_bytes"]);
}

TEST(TcpStream, CountsWholeMessagesAtTheRateOfSmallOnes) {
  Pair pair({.workload = "message_rate", .message_bytes = 64});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  const nb_batch_result& result = pair.responder().result();
  EXPECT_GT(result.messages, 0);
  EXPECT_NEAR(static_cast<double>(result.messages), static_cast<double>(result.bytes) / 64, 1);
  auto sender = pair.initiator().counters();
  EXPECT_EQ(sender["calls.send"] * 64, sender["payload.sent_bytes"]);
  expect_exact_bytes(pair);
}

TEST(TcpStream, TellsTheKernelsCountersOfAllItsConnections) {
  Pair pair({.values = {{"streams", 3, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  auto sender = pair.initiator().counters();
  auto receiver = pair.responder().counters();
  EXPECT_GE(sender["tcp_info.bytes_acked"], sender["payload.sent_bytes"]);
  EXPECT_GE(receiver["tcp_info.bytes_received"], receiver["payload.received_bytes"]);
  for (const char* name : {"tcp_info.total_retrans", "tcp_info.busy_time_us", "tcp_info.snd_cwnd",
                           "tcp_info.min_rtt_us", "tcp_info.dsack_dups", "thread.2.cpu_s"}) {
    EXPECT_EQ(sender.count(name), 1u) << name;
  }
  EXPECT_GT(receiver["thread.0.cpu_s"] + receiver["thread.1.cpu_s"] + receiver["thread.2.cpu_s"],
            0);
}

TEST(TcpStream, CountsEveryZerocopyCompletion) {
  Pair pair({.message_bytes = 128 * 1024, .values = {{"mode", 3, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  auto sender = pair.initiator().counters();
  EXPECT_EQ(sender["zerocopy.completions"], sender["calls.send"]);
  // Loopback copies silently.
  EXPECT_EQ(sender["zerocopy.copied"], sender["zerocopy.completions"]);
}

TEST(TcpStream, KeepsToThePacingRate) {
  Pair pair({.values = {{"pacing", 80'000'000, ""}, {"sndbuf", 64 * 1024, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair, 300 * kMillisecond);
  const nb_batch_result& result = pair.responder().result();
  const double bps = 8e9 * static_cast<double>(result.bytes) /
                     static_cast<double>(result.end_ns - result.begin_ns);
  EXPECT_LT(bps, 200e6);
}

TEST(TcpStream, RunsOverIpv6) {
  Pair pair({.family = AF_INET6});
  ASSERT_EQ(pair.connect().message, "");
  run_and_stop(pair);
  expect_exact_bytes(pair);
}

/// A mark of about the window's size would keep the kernel from widening it.
TEST(LowWaterMark, FollowsTheBufferAndStaysAQuarterOfIt) {
  Pair pair({});
  ASSERT_EQ(pair.connect().message, "");
  EXPECT_EQ(pair.responder().effective()["lowat"].number, 1);
  auto sending = std::async(std::launch::async, [&] { return pair.initiator().run(0, 0); });
  EXPECT_EQ(pair.responder().run(0, 600 * kMillisecond).message, "");
  const auto mark = pair.responder().effective()["lowat"].number;
  EXPECT_GT(mark, 1);
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + sending.get().message, "");
  EXPECT_LE(4 * static_cast<double>(mark),
            pair.responder().counters().at("sock_max.rcvbuf_bytes") * 1.01);
}

TEST(LowWaterMark, IsOneWhereTheBufferIsSet) {
  Pair pair({.values = {{"rcvbuf", 1 << 20, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  auto sending = std::async(std::launch::async, [&] { return pair.initiator().run(0, 0); });
  EXPECT_EQ(pair.responder().run(0, 300 * kMillisecond).message, "");
  EXPECT_EQ(pair.responder().effective()["lowat"].number, 1);
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + sending.get().message, "");
}

}  // namespace
}  // namespace netbench::tcp::test
