#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/unit/tcp/pair.hpp"

namespace netbench::tcp::test {
namespace {

using Clock = std::chrono::steady_clock;

/// 100 ms by the contract, where a CPU is free; far below the stall limit on a crowded machine.
constexpr std::chrono::milliseconds kPromptly{3000};

template <class Body>
Clock::duration time_of(Body body) {
  const auto start = Clock::now();
  body();
  return Clock::now() - start;
}

int open_descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  int count = 0;
  while (::readdir(directory) != nullptr) {
    ++count;
  }
  ::closedir(directory);
  return count;
}

struct Case {
  const char* workload;
  nb_direction direction;
  std::int64_t iterations;
  nb_role cancelled;
};
class CancelledRuns : public testing::TestWithParam<Case> {};

TEST_P(CancelledRuns, ReturnPromptly) {
  const Case& c = GetParam();
  Pair pair({.workload = c.workload, .direction = c.direction, .message_bytes = 64});
  ASSERT_EQ(pair.connect().message, "");
  auto initiating =
      std::async(std::launch::async, [&] { return pair.initiator().run(c.iterations, 0); });
  auto responding = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const bool first = c.cancelled == NB_INITIATOR;
  End& end = first ? pair.initiator() : pair.responder();
  EXPECT_LT(time_of([&] {
              end.cancel();
              EXPECT_EQ((first ? initiating : responding).get().status, NB_CANCELLED);
            }),
            kPromptly);
  EXPECT_EQ(end.stop().status, NB_CANCELLED);
  EXPECT_EQ(end.run(1, 1).status, NB_CANCELLED);
  EXPECT_LT(time_of([&] { end.close(); }), kPromptly);
  (first ? pair.responder() : pair.initiator()).cancel();
}

std::vector<Case> cancelled_cases() {
  std::vector<Case> cases;
  for (const nb_role role : {NB_INITIATOR, NB_RESPONDER}) {
    cases.push_back({"latency", NB_FORWARD, 200'000, role});
    cases.push_back({"message_rate", NB_FORWARD, 0, role});
    cases.push_back({"loaded_latency", NB_FORWARD, 200'000, role});
    cases.push_back({"connect", NB_FORWARD, 200'000, role});
    for (const nb_direction direction : {NB_FORWARD, NB_REVERSE, NB_BOTH}) {
      cases.push_back({"bandwidth", direction, 0, role});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Tcp, CancelledRuns, testing::ValuesIn(cancelled_cases()));

TEST(TcpCancel, EndsAResponderThatWaitsForConnections) {
  Pair pair(Point{});
  ASSERT_EQ(pair.responder().open().message, "");
  (void)pair.responder().describe();
  auto connecting = std::async(std::launch::async, [&] { return pair.responder().connect({}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(time_of([&] {
              pair.responder().cancel();
              EXPECT_EQ(connecting.get().status, NB_CANCELLED);
            }),
            kPromptly);
}

TEST(TcpCancel, EndsAStopThatWaitsForThePeer) {
  Pair pair({.direction = NB_REVERSE});
  ASSERT_EQ(pair.connect().message, "");
  auto stopping = std::async(std::launch::async, [&] { return pair.initiator().stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(time_of([&] {
              pair.initiator().cancel();
              EXPECT_EQ(stopping.get().status, NB_CANCELLED);
            }),
            kPromptly);
}

TEST(TcpFault, TellsAStreamThatThePeerClosed) {
  for (const nb_direction direction : {NB_FORWARD, NB_REVERSE}) {
    Pair pair({.direction = direction});
    ASSERT_EQ(pair.connect().message, "");
    auto running = std::async(std::launch::async, [&] { return pair.initiator().run(0, 0); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pair.responder().close();
    const Outcome ended = running.get();
    EXPECT_EQ(ended.status, NB_PEER_CLOSED);
    EXPECT_EQ(ended.slug, "tcp-peer-closed");
  }
}

TEST(TcpFault, TellsAPingPongThatThePeerClosed) {
  for (const int wait : {0, 1}) {
    Pair pair({.workload = "latency", .message_bytes = 64, .values = {{"wait", wait, ""}}});
    ASSERT_EQ(pair.connect().message, "");
    pair.responder().close();
    EXPECT_EQ(pair.initiator().run(1000, 0).status, NB_PEER_CLOSED);
  }
}

TEST(TcpFault, StopTimesOutOnAPeerThatGoesOn) {
  Pair pair({.direction = NB_REVERSE});
  ASSERT_EQ(pair.connect().message, "");
  auto sending = std::async(std::launch::async, [&] { return pair.responder().run(0, 0); });
  const Outcome stopped = pair.initiator().stop(100 * kMillisecond);
  EXPECT_EQ(stopped.status, NB_TIMED_OUT);
  EXPECT_EQ(stopped.slug, "tcp-stop-timeout");
  EXPECT_EQ(sending.get().status, NB_PEER_CLOSED);
}

TEST(TcpFault, ConnectTimesOutWithoutConnections) {
  Pair pair({.deadline_ns = 200 * kMillisecond});
  pair.host().go_deaf();
  const Outcome connected = pair.connect();
  // The initiator's side is accepted by the kernel; the responder is the one that waits.
  EXPECT_EQ(connected.status, NB_TIMED_OUT);
  EXPECT_EQ(connected.slug, "tcp-rendezvous-timeout");
}

TEST(TcpFault, NamesARefusedPort) {
  Pair pair(Point{});
  ASSERT_EQ(pair.responder().open().message, "");
  ASSERT_EQ(pair.initiator().open().message, "");
  const nb_blob blob = pair.responder().describe();
  ::shutdown(pair.host().listener(), SHUT_RDWR);
  const Outcome refused = pair.initiator().connect(blob);
  EXPECT_EQ(refused.slug, "tcp-connect-refused");
  EXPECT_NE(refused.message.find("127.0.0.1:"), std::string::npos);
}

TEST(TcpFault, RefusesABlobOfSomethingElse) {
  Pair pair(Point{});
  ASSERT_EQ(pair.initiator().open().message, "");
  const std::uint8_t garbage[7] = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(pair.initiator().connect({garbage, sizeof garbage}).slug, "tcp-bad-blob");
}

TEST(TcpCheck, RefusesMoreStreamsThanDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  Pair pair({.values = {{"streams", 300, ""}}});
  const Outcome checked = pair.initiator().check();
  const Outcome opened = pair.initiator().open();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const Outcome& refused : {checked, opened}) {
    EXPECT_EQ(refused.status, NB_INVALID);
    EXPECT_EQ(refused.slug, "too-many-streams");
    EXPECT_NE(refused.remedy.find("ulimit -n"), std::string::npos);
  }
}

struct Bad {
  Asked value;
  const char* slug;
};
class BadValues : public testing::TestWithParam<Bad> {};

TEST_P(BadValues, AreRefusedByNameBeforeAnythingIsOpened) {
  const Bad& bad = GetParam();
  Pair pair({.values = {bad.value}});
  const Outcome refused = pair.initiator().check();
  EXPECT_EQ(refused.status, NB_INVALID);
  EXPECT_EQ(refused.slug, bad.slug);
  EXPECT_EQ(refused.message.rfind(bad.value.name, 0), 0u) << refused.message;
}

INSTANTIATE_TEST_SUITE_P(
    Tcp, BadValues,
    testing::Values(Bad{{"mss", 87, ""}, "invalid-value"}, Bad{{"mss", 32768, ""}, "invalid-value"},
                    Bad{{"streams", 0, ""}, "invalid-value"},
                    Bad{{"streams", NB_AUTO, ""}, "invalid-value"},
                    Bad{{"dscp", 64, ""}, "invalid-value"}, Bad{{"mode", 4, ""}, "invalid-value"},
                    Bad{{"nosuch", 1, ""}, "invalid-value"}, Bad{{"cpu", 0, "x"}, "invalid-value"},
                    Bad{{"cpu", 0, "1000"}, "invalid-value"},
                    Bad{{"congestion", 0, "nosuchcc"}, "congestion-unavailable"}));

TEST(TcpCheck, RefusesMessagesOutsideTheWorkloadsRange) {
  Pair pair({.message_bytes = 0});
  EXPECT_EQ(pair.initiator().check().slug, "invalid-message-size");
}

TEST(TcpCheck, RefusesBuffersLargerThanMemory) {
  Pair pair({.message_bytes = 1024 * 1024 * 1024, .values = {{"streams", 4000, ""}}});
  EXPECT_EQ(pair.initiator().check().slug, "message-too-large");
}

TEST(TcpFault, RefusesASourceThatThisHostDoesNotHave) {
  Pair pair({.values = {{"bind", 0, "nosuchif0"}}});
  const Outcome refused = pair.connect();
  EXPECT_EQ(refused.status, NB_INVALID);
  EXPECT_EQ(refused.message.rfind("bind", 0), 0u);
}

TEST(TcpSession, LeaksNoDescriptor) {
  const auto once = [](int mode) {
    Pair pair({.direction = NB_BOTH, .values = {{"mode", mode, ""}}});
    ASSERT_EQ(pair.connect().message, "");
  };
  once(0);
  const int before = open_descriptors();
  for (int round = 0; round < 100; ++round) {
    once(round % 4);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(TcpSession, RefusesToRunBeforeItIsConnected) {
  for (const char* workload : {"latency", "bandwidth", "loaded_latency", "connect"}) {
    Pair pair({.workload = workload, .message_bytes = 64});
    ASSERT_EQ(pair.initiator().open().message, "");
    EXPECT_EQ(pair.initiator().run(1, 1).slug, "not-connected");
    EXPECT_EQ(pair.initiator().stop().slug, "not-connected");
    EXPECT_TRUE(pair.initiator().counters().empty());
  }
}

TEST(TcpSession, ClosesWithoutHavingConnected) {
  for (int round = 0; round < 100; ++round) {
    Pair pair(Point{});
    ASSERT_EQ(pair.initiator().open().message, "");
    ASSERT_EQ(pair.responder().open().message, "");
    (void)pair.responder().describe();
  }
}

}  // namespace
}  // namespace netbench::tcp::test
