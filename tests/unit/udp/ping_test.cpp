#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/udp/pair.hpp"
#include "tests/unit/udp/relay.hpp"

namespace netbench::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Point latency(std::vector<nb_value> values = {}, std::int64_t message_bytes = 64) {
  return {.workload = WorkloadId::latency,
          .direction = static_cast<nb_direction>(0),
          .message_bytes = message_bytes,
          .values = std::move(values)};
}

struct Pings {
  Outcome outcome;
  std::vector<std::uint64_t> samples_ns;
  nb_batch_result result{};
};

Pings ping(Pair& pair, std::size_t count) {
  Pings pings;
  pings.samples_ns.resize(count);
  pings.result.samples_ns = pings.samples_ns.data();
  pings.result.sample_capacity = count;
  const nb_batch batch{sizeof(nb_batch), static_cast<std::int64_t>(count), 0};
  pings.outcome = pair.initiator.run(batch, pings.result);
  pings.samples_ns.resize(pings.result.sample_count);
  return pings;
}

TEST(UdpLatency, TakesOneSampleForEachAnswer) {
  Pair pair(latency());
  const Pings pings = ping(pair, 200);
  EXPECT_EQ(pings.outcome.status, NB_OK) << pings.outcome.error.message;
  EXPECT_EQ(pings.samples_ns.size(), 200u);
  EXPECT_GT(std::ranges::min(pings.samples_ns), 0u);
  EXPECT_GE(pings.result.end_ns, pings.result.begin_ns);
  pair.stop();
  auto counters = pair.initiator.counters();
  EXPECT_EQ(counters["udp.sent"], 200);
  EXPECT_EQ(counters["udp.lost"], 0);
  EXPECT_EQ(counters["payload.sent_bytes"], 200 * 64);
  EXPECT_EQ(counters["payload.received_bytes"], 200 * 64);
  EXPECT_EQ(pair.responder.counters()["payload.received_bytes"], 200 * 64);
}

TEST(UdpLatency, WorksSpinningAndAtTheLargestSize) {
  for (const std::int64_t bytes : {kHeaderBytes, kMaxDatagramBytes}) {
    Pair pair(latency({{"wait", 1, nullptr}}, bytes));
    EXPECT_EQ(ping(pair, 20).samples_ns.size(), 20u) << bytes;
    pair.stop();
  }
}

TEST(UdpLatency, CountsLossesAndKeepsThemOutOfTheSamples) {
  Relay relay([](const Header& header) { return header.sequence % 5 == 2 ? 0 : 1; });
  Pair pair(latency(), [&](std::uint16_t port) { return relay.start(port); });
  const Pings pings = ping(pair, 12);
  ASSERT_EQ(pings.outcome.status, NB_OK) << pings.outcome.error.message;
  ASSERT_GT(pings.samples_ns.size(), 2u);  // a batch that losses make long may end early
  EXPECT_LT(std::ranges::min(pings.samples_ns), 100'000'000u);
  auto counters = pair.initiator.counters();
  EXPECT_GT(counters["udp.lost"], 0);
  EXPECT_EQ(counters["udp.sent"],
            counters["udp.lost"] + static_cast<double>(pings.samples_ns.size()));
  EXPECT_GE(static_cast<double>(pings.result.end_ns - pings.result.begin_ns),
            counters["udp.lost"] * 1e8);
  pair.stop();
}

TEST(UdpLatency, SkipsDuplicatedAnswers) {
  Relay relay([](const Header&) { return 2; });
  Pair pair(latency(), [&](std::uint16_t port) { return relay.start(port); });
  EXPECT_EQ(ping(pair, 50).samples_ns.size(), 50u);
  auto counters = pair.initiator.counters();
  EXPECT_EQ(counters["udp.received"], 50);
  EXPECT_GT(counters["udp.duplicates"], 0);
  EXPECT_EQ(counters["udp.lost"], 0);
  pair.stop();
}

TEST(UdpLatency, ASilentPathEndsWithATimeOut) {
  Relay relay([](const Header&) { return 0; });
  Pair pair(latency(), [&](std::uint16_t port) { return relay.start(port); });
  const auto begin = steady_clock::now();
  const Pings pings = ping(pair, 10);
  EXPECT_EQ(pings.outcome.status, NB_TIMED_OUT);
  EXPECT_EQ(pings.outcome.slug(), "udp-silent");
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(UdpLatency, AVanishedPeerEndsTheBatch) {
  Pair pair(latency());
  EXPECT_EQ(ping(pair, 5).samples_ns.size(), 5u);
  pair.responder.close();
  pair.agent.reset();
  EXPECT_EQ(ping(pair, 5).outcome.status, NB_PEER_CLOSED);
}

TEST(UdpLatency, CancelEndsBothEndsAtOnce) {
  const auto cancel_time = [] {
    Relay relay([](const Header&) { return 0; });
    Pair pair(latency(), [&](std::uint16_t port) { return relay.start(port); });
    Outcome theirs;
    Pings ours;
    std::thread responder([&] { theirs = pair.responder.serve(); });
    std::thread initiator([&] { ours = ping(pair, 1000); });
    std::this_thread::sleep_for(milliseconds(50));
    const auto begin = steady_clock::now();
    pair.initiator.cancel();
    pair.responder.cancel();
    initiator.join();
    responder.join();
    const auto took = steady_clock::now() - begin;
    EXPECT_EQ(ours.outcome.status, NB_CANCELLED);
    EXPECT_EQ(theirs.status, NB_CANCELLED);
    return took;
  };
  EXPECT_LT(best_of_three(cancel_time), milliseconds(100));
}

TEST(UdpConnect, AClosedPortIsRefusedAtOnce) {
  std::uint16_t port = 0;
  { port = Agent().port(); }
  Agent other;
  Point point = latency();
  End initiator(other.host(), NB_INITIATOR, point, port);
  End responder(other.host(), NB_RESPONDER, point, port);
  const Outcome outcome = initiator.connect(responder.describe());
  EXPECT_EQ(outcome.status, NB_PEER_CLOSED);
  EXPECT_EQ(outcome.slug(), "udp-refused");
}

TEST(UdpConnect, NoAnswerEndsAtTheDeadline) {
  Agent agent;
  Point point = latency();
  point.deadline_ns = 300'000'000;
  End responder(agent.host(), NB_RESPONDER, point, agent.port());
  End initiator(agent.host(), NB_INITIATOR, point, agent.port());
  const auto begin = steady_clock::now();
  const Outcome outcome = initiator.connect(responder.describe());  // nobody takes the socket
  EXPECT_EQ(outcome.status, NB_TIMED_OUT);
  EXPECT_EQ(outcome.slug(), "udp-no-answer");
  EXPECT_LT(steady_clock::now() - begin, milliseconds(700));
}

TEST(UdpConnect, CancelEndsItAtOnce) {
  const auto cancel_time = [] {
    Agent agent;
    const Point point = latency();
    End responder(agent.host(), NB_RESPONDER, point, agent.port());
    Outcome outcome;
    std::thread connecting([&] { outcome = responder.connect({'N', 'B', 'U', 1}); });
    std::this_thread::sleep_for(milliseconds(30));
    const auto begin = steady_clock::now();
    responder.cancel();
    connecting.join();
    EXPECT_EQ(outcome.status, NB_CANCELLED);
    return steady_clock::now() - begin;
  };
  EXPECT_LT(best_of_three(cancel_time), milliseconds(100));
}

TEST(UdpConnect, AStrangeBlobIsRefused) {
  Agent agent;
  End initiator(agent.host(), NB_INITIATOR, latency(), agent.port());
  EXPECT_EQ(initiator.connect({1, 2, 3}).slug(), "udp-bad-address");
}

TEST(UdpConnect, AResponderWithoutAPortIsUnavailable) {
  const nb_host bare{sizeof(nb_host), nullptr, nullptr, nullptr};
  const End responder(&bare, NB_RESPONDER, latency(), 1);
  EXPECT_EQ(responder.opened.status, NB_UNAVAILABLE);
  EXPECT_EQ(responder.opened.slug(), "udp-no-port");
}

TEST(UdpOpen, NamesTheTunableThatCannotBe) {
  Agent agent;
  const End unknown(agent.host(), NB_INITIATOR, latency({{"dscp", 64, nullptr}}), agent.port());
  EXPECT_EQ(unknown.opened.status, NB_INVALID);
  EXPECT_NE(std::string(unknown.opened.error.message).find("dscp"), std::string::npos);
  End bound(agent.host(), NB_INITIATOR, latency({{"bind", 0, "no-such-thing"}}), agent.port());
  End responder(agent.host(), NB_RESPONDER, latency(), agent.port());
  const Outcome outcome = bound.connect(responder.describe());
  EXPECT_EQ(outcome.status, NB_INVALID);
  EXPECT_NE(std::string(outcome.error.message).find("bind"), std::string::npos);
}

}  // namespace
}  // namespace netbench::udp
