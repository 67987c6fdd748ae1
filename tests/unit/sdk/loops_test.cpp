#include "transports/sdk/loops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <numeric>
#include <vector>

namespace netbench::sdk {
namespace {

/// Advances only when something is done.
struct FakeClock {
  std::int64_t time_ns = 1000;
  std::int64_t now_ns() { return time_ns; }
};

/// Each round trip takes the next of `trips`; ends after the last.
struct FakePing {
  FakeClock& clock;
  std::deque<std::int64_t> trips;
  bool send_message() noexcept { return !trips.empty(); }
  bool receive_message() noexcept {
    clock.time_ns += trips.front();
    trips.pop_front();
    return true;
  }
};

TEST(PingPongLoop, TakesTheEndOfOneRoundTripAsTheStartOfTheNext) {
  FakeClock clock;
  FakePing endpoint{clock, {10, 20, 30}};
  std::array<std::uint64_t, 3> samples{};
  const Timed timed = ping_pong(endpoint, clock, samples);
  EXPECT_EQ(samples, (std::array<std::uint64_t, 3>{10, 20, 30}));
  EXPECT_EQ(timed.count, 3u);
  EXPECT_EQ(timed.begin_ns, 1000);
  EXPECT_EQ(timed.end_ns, 1060);
}

TEST(PingPongLoop, KeepsTheCompleteRoundTripsWhenTheConnectionEnds) {
  FakeClock clock;
  FakePing endpoint{clock, {10, 20}};
  std::array<std::uint64_t, 5> samples{};
  const Timed timed = ping_pong(endpoint, clock, samples);
  EXPECT_EQ(timed.count, 2u);
  EXPECT_EQ(timed.end_ns, 1030);
}

struct FakeEcho {
  int left = 4;
  int answered = 0;
  bool receive_message() noexcept { return left-- > 0; }
  bool send_message() noexcept {
    ++answered;
    return true;
  }
};

TEST(EchoLoop, AnswersUntilTheConnectionEnds) {
  FakeEcho endpoint;
  EXPECT_EQ(echo(endpoint), 4u);
  EXPECT_EQ(endpoint.answered, 4);
}

/// Answers `latency_ns` after the send, but not before `stalled_until_ns`.
struct FakePaced {
  FakeClock& clock;
  std::int64_t latency_ns;
  std::int64_t stalled_until_ns = 0;
  std::deque<std::int64_t> answers = {};
  std::vector<std::int64_t> sends = {};

  bool send_message() noexcept {
    sends.push_back(clock.time_ns);
    answers.push_back(std::max(clock.time_ns + latency_ns, stalled_until_ns));
    return true;
  }
  Arrival receive_until(std::int64_t until_ns) noexcept {
    if (answers.empty() || answers.front() > until_ns) {
      clock.time_ns = std::max(clock.time_ns, until_ns);
      return Arrival::nothing;
    }
    clock.time_ns = std::max(clock.time_ns, answers.front());
    answers.pop_front();
    return Arrival::message;
  }
};

TEST(PacedLoop, SendsAtTheIntendedTimesHoweverLateTheAnswersAre) {
  FakeClock clock;
  FakePaced endpoint{clock, 350};
  std::array<std::uint64_t, 6> samples{};
  const Timed timed = paced_ping_pong(endpoint, clock, 100, samples);
  EXPECT_EQ(timed.count, 6u);
  EXPECT_EQ(endpoint.sends, (std::vector<std::int64_t>{1000, 1100, 1200, 1300, 1400, 1500}));
  for (const std::uint64_t sample : samples) {
    EXPECT_EQ(sample, 350u);
  }
}

TEST(PacedLoop, ChargesAStallToEveryMessageItDelayed) {
  FakeClock clock;
  FakePaced endpoint{clock, 10, 1500};
  std::array<std::uint64_t, 6> samples{};
  paced_ping_pong(endpoint, clock, 100, samples);
  EXPECT_EQ(samples, (std::array<std::uint64_t, 6>{500, 400, 300, 200, 100, 10}));
}

struct FakeStream {
  std::deque<std::int64_t> moves;
  std::atomic<bool>* stop = nullptr;
  std::int64_t send_some() noexcept { return next(); }
  std::int64_t receive_some() noexcept { return next(); }
  std::int64_t next() noexcept {
    const std::int64_t moved = moves.front();
    moves.pop_front();
    if (stop != nullptr && moves.empty()) {
      *stop = true;
    }
    return moved;
  }
};

TEST(StreamLoops, CountBytesAndCallsUntilTheEnd) {
  std::atomic<bool> stop{false};
  StreamProgress sent;
  StreamProgress received;
  FakeStream sender{{100, 50, -1}};
  FakeStream receiver{{70, 80, 0}};
  stream_send(sender, stop, sent);
  stream_receive(receiver, received);
  EXPECT_EQ(sent.bytes, 150u);
  EXPECT_EQ(sent.calls, 2u);
  EXPECT_EQ(received.bytes, 150u);
  EXPECT_EQ(received.calls, 2u);
}

TEST(StreamLoops, SenderLeavesWhenToldToStop) {
  std::atomic<bool> stop{false};
  StreamProgress sent;
  FakeStream sender{{100, 100, 100}, &stop};
  stream_send(sender, stop, sent);
  EXPECT_EQ(sent.bytes, 300u);
}

struct FakeOperation {
  FakeClock& clock;
  bool perform() noexcept {
    clock.time_ns += 7;
    return true;
  }
  void clean_up() noexcept { clock.time_ns += 1000; }
};

TEST(TimedOperations, LeaveTheCleanUpOutOfTheSamples) {
  FakeClock clock;
  FakeOperation operation{clock};
  std::array<std::uint64_t, 3> samples{};
  const Timed timed = timed_operations(operation, clock, samples);
  EXPECT_EQ(samples, (std::array<std::uint64_t, 3>{7, 7, 7}));
  EXPECT_EQ(timed.count, 3u);
}

}  // namespace
}  // namespace netbench::sdk
