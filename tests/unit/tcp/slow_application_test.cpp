#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/tcp/pair.hpp"
#include "transports/tcp/throttle.hpp"

namespace netbench::tcp::test {
namespace {

using Counters = std::map<std::string, double>;

constexpr std::int64_t kRate = 80'000'000;
constexpr std::int64_t kWindow = 600 * kMillisecond;

/// One window forward; returns the counters of sender and receiver.
std::pair<Counters, Counters> run_forward(Pair& pair) {
  EXPECT_EQ(pair.connect().message, "");
  auto sending = std::async(std::launch::async, [&] { return pair.initiator().run(0, 0); });
  EXPECT_EQ(pair.responder().run(0, kWindow).message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + sending.get().message, "");
  return {pair.initiator().counters(), pair.responder().counters()};
}

double rate_of(const nb_batch_result& result) {
  return 8e9 * static_cast<double>(result.bytes) /
         static_cast<double>(result.end_ns - result.begin_ns);
}

double share(const Counters& counters, const std::string& kind, const std::string& part) {
  return counters.at(kind + "." + part) / counters.at(kind + ".elapsed_s");
}

TEST(SlowReader, SleepsWhileTheSenderIsBlockedByItsWindow) {
  Pair pair({.values = {{"read_rate", kRate, ""}}});
  const auto [sender, receiver] = run_forward(pair);
  EXPECT_GT(share(receiver, "recv", "idle_s"), 0.7);
  EXPECT_GT(share(sender, "send", "blocked_s"), 0.7);
  EXPECT_LT(share(receiver, "recv", "blocked_s"), 0.3);
  EXPECT_EQ(sender.at("send.idle_s"), 0);
  EXPECT_GT(sender.at("tcp_info.rwnd_limited_us"), 0.5e6 * sender.at("send.elapsed_s"));
  EXPECT_EQ(sender.at("payload.sent_bytes"), receiver.at("payload.received_bytes"));
}

TEST(SlowReader, LeavesTheLowWaterMarkAlone) {
  Pair pair({.values = {{"read_rate", kRate, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  EXPECT_EQ(pair.responder().effective()["lowat"].number, 1);
  EXPECT_EQ(pair.responder().effective()["read_rate"].number, kRate);
  EXPECT_EQ(pair.responder().effective()["write_rate"].number, NB_AUTO);
  EXPECT_NE(pair.responder().method().find("takes at most 80000000 bit/s"), std::string::npos);
}

TEST(SlowReader, DividesItsRateAmongItsStreams) {
  Pair pair({.values = {{"read_rate", kRate, ""}, {"streams", 4, ""}, {"receive", 1, ""}}});
  const auto [sender, receiver] = run_forward(pair);
  EXPECT_EQ(receiver.at("recv.threads"), 4);
  EXPECT_GT(share(receiver, "recv", "idle_s"), 0.7);
  EXPECT_GT(share(sender, "send", "blocked_s"), 0.7);
}

TEST(SlowReader, TakesTheRestAtFullSpeedOnceStopped) {
  Pair pair({.values = {{"read_rate", 1'000'000, ""}}});
  const auto start = std::chrono::steady_clock::now();
  const auto [sender, receiver] = run_forward(pair);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(sender.at("payload.sent_bytes"), receiver.at("payload.received_bytes"));
  EXPECT_GT(receiver.at("payload.received_bytes"), 250'000) << "two seconds' worth at its rate";
}

TEST(SlowWriter, SleepsWhileTheReceiverIsBlocked) {
  Pair pair({.values = {{"write_rate", kRate, ""}}});
  const auto [sender, receiver] = run_forward(pair);
  EXPECT_GT(share(sender, "send", "idle_s"), 0.7);
  EXPECT_GT(share(receiver, "recv", "blocked_s"), 0.7);
  EXPECT_LT(share(sender, "send", "blocked_s"), 0.3);
  EXPECT_EQ(receiver.at("recv.idle_s"), 0);
  EXPECT_LT(rate_of(pair.responder().result()), 1.2 * kRate);
}

class SlowWriterModes : public testing::TestWithParam<int> {};

TEST_P(SlowWriterModes, KeepToTheRateAndLoseNoByte) {
  Pair pair({.message_bytes = 1'000'000,
             .values = {{"write_rate", kRate, ""}, {"mode", GetParam(), ""}}});
  const auto [sender, receiver] = run_forward(pair);
  EXPECT_LT(rate_of(pair.responder().result()), 1.2 * kRate);
  EXPECT_EQ(sender.at("payload.sent_bytes"), receiver.at("payload.received_bytes"));
}

INSTANTIATE_TEST_SUITE_P(Tcp, SlowWriterModes, testing::Values(0, 1, 2, 3));

TEST(Throttle, MakesUpForAShortDelayOnly) {
  const std::atomic<bool> released{false};
  std::atomic<std::int64_t> idle_ns{0};
  Throttle throttle(8'000'000, released, idle_ns);  // 1 MB/s
  throttle.await_turn();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  throttle.await_turn();
  throttle.moved(30'000);  // 10 ms are made up, 20 ms are ahead
  throttle.await_turn();
  EXPECT_GT(idle_ns, 15'000'000);
  EXPECT_LE(idle_ns, 20'000'000);
}

TEST(Throttle, NeverSleepsOnceReleased) {
  const std::atomic<bool> released{true};
  std::atomic<std::int64_t> idle_ns{0};
  Throttle throttle(1'000'000, released, idle_ns);
  throttle.await_turn();
  throttle.moved(1'000'000'000);
  throttle.await_turn();
  EXPECT_EQ(idle_ns, 0);
}

/// Round trips of a small message, Nagle's algorithm on.
std::vector<std::uint64_t> nagled_samples(std::int64_t writes) {
  Pair pair({.workload = "latency",
             .message_bytes = 64,
             .values = {{"nodelay", 0, ""}, {"writes", writes, ""}}});
  EXPECT_EQ(pair.connect().message, "");
  auto serving = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  EXPECT_EQ(pair.initiator().run(20, 0).message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + serving.get().message, "");
  EXPECT_EQ(pair.initiator().counters()["payload.sent_bytes"], 20 * 64);
  EXPECT_EQ(pair.responder().counters()["payload.sent_bytes"], 20 * 64);
  return pair.initiator().samples();
}

// The least delayed acknowledgement is 40 ms (TCP_DELACK_MIN, include/net/tcp.h).
TEST(SplitWrites, WaitForDelayedAcknowledgementsWithNagle) {
  const auto split = nagled_samples(2);
  EXPECT_GT(*std::ranges::max_element(split), 30'000'000u);
}

TEST(SplitWrites, CostNothingOfTheKindWhereMessagesAreWhole) {
  auto whole = nagled_samples(1);
  std::ranges::nth_element(whole, whole.begin() + 10);
  EXPECT_LT(whole[10], 30'000'000u);
}

TEST(SplitWrites, MakeNoMoreCallsThanAMessageHasBytes) {
  Pair pair({.workload = "latency", .message_bytes = 3, .values = {{"writes", 16, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  auto serving = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  EXPECT_EQ(pair.initiator().run(10, 0).message, "");
  const auto [initiated, responded] = pair.stop();
  EXPECT_EQ(initiated.message + responded.message + serving.get().message, "");
  EXPECT_EQ(pair.responder().counters()["payload.received_bytes"], 30);
  EXPECT_NE(pair.initiator().method().find("in 16 send() calls"), std::string::npos);
}

}  // namespace
}  // namespace netbench::tcp::test
