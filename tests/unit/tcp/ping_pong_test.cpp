#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/unit/tcp/pair.hpp"

namespace netbench::tcp::test {
namespace {

/// The responder serves while the initiator takes `batches` of `iterations`; then both stop.
void ping_and_stop(Pair& pair, std::int64_t iterations, int batches = 1) {
  auto serving = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  for (int batch = 0; batch < batches; ++batch) {
    EXPECT_EQ(pair.initiator().run(iterations, 0).message, "");
    EXPECT_EQ(pair.initiator().result().sample_count, static_cast<std::size_t>(iterations));
  }
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message, "");
  EXPECT_EQ(responded.message, "");
  EXPECT_EQ(serving.get().message, "");
}

using Way = std::tuple<int, std::int64_t, int>;  // wait, message size, family
class PingPongWays : public testing::TestWithParam<Way> {};

TEST_P(PingPongWays, AnswerEveryMessageWhole) {
  const auto [wait, size, family] = GetParam();
  Pair pair({.workload = "latency",
             .message_bytes = size,
             .values = {{"wait", wait, ""}},
             .family = family});
  ASSERT_EQ(pair.connect().message, "");
  const std::int64_t batch = wait == 1 ? 3 : 20;
  ping_and_stop(pair, batch, 2);
  const auto total = static_cast<double>(2 * batch * size);
  auto initiator = pair.initiator().counters();
  auto responder = pair.responder().counters();
  EXPECT_EQ(initiator["payload.sent_bytes"], total);
  EXPECT_EQ(initiator["payload.received_bytes"], total);
  EXPECT_EQ(responder["payload.sent_bytes"], total);
  EXPECT_EQ(responder["payload.received_bytes"], total);
}

INSTANTIATE_TEST_SUITE_P(Tcp, PingPongWays,
                         testing::Combine(testing::Values(0, 1),
                                          testing::Values<std::int64_t>(1, 64, 5'000'000),
                                          testing::Values(AF_INET, AF_INET6)));

TEST(TcpLatency, SamplesAddUpToTheBatch) {
  Pair pair({.workload = "latency", .message_bytes = 64});
  ASSERT_EQ(pair.connect().message, "");
  ping_and_stop(pair, 100);
  std::uint64_t sum = 0;
  for (const std::uint64_t sample : pair.initiator().samples()) {
    EXPECT_GT(sample, 0u);
    sum += sample;
  }
  const nb_batch_result& result = pair.initiator().result();
  EXPECT_EQ(static_cast<std::int64_t>(sum), result.end_ns - result.begin_ns);
}

TEST(TcpLatency, RefusesABatchThatDoesNotFitTheArray) {
  Pair pair({.workload = "latency", .message_bytes = 64});
  ASSERT_EQ(pair.connect().message, "");
  const Outcome refused = pair.initiator().run(0, 0);
  EXPECT_EQ(refused.status, NB_INVALID);
  EXPECT_EQ(refused.slug, "invalid-batch");
}

TEST(TcpLatency, StopsAResponderThatNeverServed) {
  Pair pair({.workload = "latency", .message_bytes = 64});
  ASSERT_EQ(pair.connect().message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message, "");
}

TEST(TcpLatency, StopEndsABatchInProgress) {
  Pair pair({.workload = "latency", .message_bytes = 100'000});
  ASSERT_EQ(pair.connect().message, "");
  auto serving = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  auto pinging = std::async(std::launch::async, [&] { return pair.initiator().run(1'000'000, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message, "");
  EXPECT_EQ(pinging.get().message + serving.get().message, "");
  EXPECT_EQ(pair.initiator().counters()["payload.sent_bytes"],
            pair.responder().counters()["payload.received_bytes"]);
  EXPECT_EQ(pair.responder().counters()["payload.sent_bytes"],
            pair.initiator().counters()["payload.received_bytes"]);
}

class LoadedWays : public testing::TestWithParam<std::tuple<int, int>> {};  // wait, direction

TEST_P(LoadedWays, PaceMessagesBesideBulk) {
  const auto [wait, direction] = GetParam();
  Pair pair({.workload = "loaded_latency",
             .message_bytes = 64,
             .values = {{"wait", wait, ""},
                        {"load", 2, ""},
                        {"load_direction", direction, ""},
                        {"rate", 2000, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  ping_and_stop(pair, 100);
  const nb_batch_result& result = pair.initiator().result();
  EXPECT_GE(result.end_ns - result.begin_ns, 99 * kMillisecond / 2);
  auto initiator = pair.initiator().counters();
  auto responder = pair.responder().counters();
  EXPECT_EQ(initiator["payload.sent_bytes"], responder["payload.received_bytes"]);
  EXPECT_EQ(responder["payload.sent_bytes"], initiator["payload.received_bytes"]);
  EXPECT_EQ(initiator["bulk.sent_bytes"] > 0, direction != 1);
  EXPECT_EQ(responder["bulk.sent_bytes"] > 0, direction != 0);
}

INSTANTIATE_TEST_SUITE_P(Tcp, LoadedWays,
                         testing::Combine(testing::Values(0, 1), testing::Values(0, 1, 2)));

TEST(TcpLoadedLatency, RunsWithoutLoad) {
  Pair pair({.workload = "loaded_latency",
             .message_bytes = 64,
             .values = {{"load", 0, ""}, {"rate", 5000, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  ping_and_stop(pair, 50);
  EXPECT_EQ(pair.initiator().counters()["bulk.sent_bytes"], 0);
}

TEST(TcpConnect, TimesConnectionsAndLeavesNone) {
  Pair pair({.workload = "connect", .message_bytes = 1});
  ASSERT_EQ(pair.connect().message, "");
  ping_and_stop(pair, 50);
  EXPECT_EQ(pair.initiator().counters()["connect.connections"], 50);
  EXPECT_EQ(pair.initiator().counters()["payload.sent_bytes"], 0);
  EXPECT_GT(*std::ranges::min_element(pair.initiator().samples()), 0u);
  EXPECT_NE(pair.initiator().method().find("connect()"), std::string::npos);
}

}  // namespace
}  // namespace netbench::tcp::test
