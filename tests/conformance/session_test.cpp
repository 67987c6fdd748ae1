#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/pair.hpp"
#include "tests/conformance/transport_case.hpp"

namespace netbench::conformance {
namespace {

using plugin::Role;

class Session : public TransportCase {};

constexpr std::int64_t kWindowNs = 50'000'000;
constexpr int kWindows = 3;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_P(Session, OpensAndClosesAHundredTimesWithoutLeakingADescriptor) {
  SKIP_UNLESS_AVAILABLE();
  const plan::Workload& workload = transport().spec().workloads.front();
  const plugin::OpenRequest request = plain_request(workload, first_direction(workload));
  { const Pair once(transport(), request); }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    const Pair pair(transport(), request);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(Session, ConnectsAndClosesWithoutLeakingADescriptor) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : transport().spec().workloads) {
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 3; ++i) {
      Pair pair(transport(), plain_request(workload, first_direction(workload)));
      pair.connect();
    }
    EXPECT_EQ(open_descriptors(), before) << workload.name;
  }
}

TEST_P(Session, ReportsAnEffectiveValueOfEveryTunableAndAMethod) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : transport().spec().workloads) {
    Pair pair(transport(), plain_request(workload, first_direction(workload)));
    pair.connect();
    for (plugin::TransportSession* end : {&pair.initiator(), &pair.responder()}) {
      EXPECT_FALSE(end->method().empty()) << workload.name;
      const auto values = end->effective();
      ASSERT_TRUE(values) << values.error().message;
      std::set<std::string> names;
      for (const plugin::EffectiveValue& value : *values) {
        EXPECT_NE(transport().spec().find_tunable(value.name), nullptr) << value.name;
        EXPECT_TRUE(!value.capped || !value.note.empty()) << value.name;
        names.insert(value.name);
      }
      for (const plan::Tunable& tunable : transport().spec().tunables) {
        EXPECT_TRUE(!tunable.applies_to(workload.name) || names.contains(tunable.name))
            << workload.name << " has no effective value of " << tunable.name;
      }
    }
  }
}

TEST_P(Session, PingPongsYieldExactlyTheSamplesAskedFor) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : workloads_of(transport(), true)) {
    SCOPED_TRACE(workload.name);
    Pair pair(transport(), plain_request(workload, first_direction(workload)));
    pair.connect();
    auto serving = run_async(pair.responder(), {});
    std::int64_t previous_end = 0;
    for (const std::int64_t iterations : {1, 7, 50}) {
      std::vector<std::uint64_t> samples(static_cast<std::size_t>(iterations));
      const auto result = pair.initiator().run({.iterations = iterations}, samples);
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(result->sample_count, samples.size());
      EXPECT_GT(result->end_ns, result->begin_ns);
      EXPECT_GE(result->begin_ns, previous_end);
      EXPECT_GT(*std::ranges::min_element(samples), 0U);
      previous_end = result->end_ns;
    }
    const auto [initiator, responder] = pair.stop();
    EXPECT_TRUE(initiator) << initiator.error().message;
    EXPECT_TRUE(responder) << responder.error().message;
    ASSERT_TRUE(ends_within(serving, std::chrono::seconds(5)));
    expect_cancelled_or_done(serving.get());
    EXPECT_EQ(counter(pair.initiator(), "payload.sent_bytes"),
              counter(pair.responder(), "payload.received_bytes"));
    EXPECT_EQ(counter(pair.responder(), "payload.sent_bytes"),
              counter(pair.initiator(), "payload.received_bytes"));
  }
}

std::string listing(plugin::TransportSession& session) {
  std::string text;
  for (const auto& [name, value] : session.counters().value_or(plugin::Readings{}).numbers) {
    text += "  " + name + " " + std::to_string(value) + "\n";
  }
  return text;
}

/// All payload that left one end has reached the other, but for messages that the receiver counts
/// as
/// `<transport>.lost`.
void expect_delivered(const std::string& name, std::int64_t message_bytes,
                      plugin::TransportSession& from, plugin::TransportSession& to) {
  const double sent = counter(from, "payload.sent_bytes");
  const double received = counter(to, "payload.received_bytes");
  ASSERT_GE(sent, 0);
  ASSERT_GE(received, 0);
  const double lost = std::max(0.0, counter(to, name + ".lost")) +
                      std::max(0.0, counter(to, name + ".socket_drops"));
  EXPECT_EQ(sent, received + lost * static_cast<double>(message_bytes))
      << "sender:\n"
      << listing(from) << "receiver:\n"
      << listing(to);
}

/// What the windows of one receiving end say together. One window may end early, with the last
/// arrival before a stall of a shared machine, or late.
void expect_windows(const std::vector<plugin::BatchResult>& windows) {
  const auto asked = static_cast<double>(kWindowNs) * kWindows;
  const auto length = static_cast<double>(windows.back().end_ns - windows.front().begin_ns);
  EXPECT_GE(length, 0.5 * asked);
  EXPECT_LE(length, 5.0 * asked);
  std::int64_t bytes = 0;
  std::int64_t previous_end = windows.front().begin_ns;
  for (const plugin::BatchResult& window : windows) {
    EXPECT_GE(window.begin_ns, previous_end);
    EXPECT_GE(window.end_ns, window.begin_ns);
    previous_end = window.end_ns;
    bytes += window.bytes;
  }
  EXPECT_GT(bytes, 0);
}

using Windows = Result<std::vector<plugin::BatchResult>>;

/// One end of a stream, as a harness drives it: windows where it receives, else until stop.
Windows run_stream_end(plugin::TransportSession& session, bool receives) {
  std::vector<plugin::BatchResult> windows;
  for (int i = 0; i < (receives ? kWindows : 1); ++i) {
    const auto result = session.run({.duration_ns = receives ? kWindowNs : 0});
    if (!result) {
      return tl::unexpected(result.error());
    }
    windows.push_back(*result);
  }
  return windows;
}

void expect_windows_in_time(std::future<Windows>& running) {
  ASSERT_TRUE(ends_within(running, std::chrono::seconds(10)));
  const Windows windows = running.get();
  ASSERT_TRUE(windows) << windows.error().message;
  expect_windows(*windows);
}

void stream_once(Pair& pair) {
  const auto start = [&](plugin::TransportSession& session, Role role) {
    return std::async(std::launch::async, run_stream_end, std::ref(session), pair.receives(role));
  };
  auto initiator = start(pair.initiator(), Role::initiator);
  auto responder = start(pair.responder(), Role::responder);
  if (pair.receives(Role::initiator)) {
    expect_windows_in_time(initiator);
  }
  if (pair.receives(Role::responder)) {
    expect_windows_in_time(responder);
  }
  const auto [stopped, other_stopped] = pair.stop();
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(other_stopped) << other_stopped.error().message;
  for (auto* running : {&initiator, &responder}) {
    if (running->valid()) {
      ASSERT_TRUE(ends_within(*running, std::chrono::seconds(5)));
      expect_cancelled_or_done(running->get());
    }
  }
}

TEST_P(Session, StreamsDeliverEveryByteThatWasSent) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : workloads_of(transport(), false)) {
    for (const Direction direction : workload.directions) {
      SCOPED_TRACE(workload.name + " " + to_string(direction));
      Pair pair(transport(), plain_request(workload, direction));
      pair.connect();
      stream_once(pair);
      const std::int64_t bytes = small_size(workload);
      expect_delivered(transport().name(), bytes, pair.initiator(), pair.responder());
      expect_delivered(transport().name(), bytes, pair.responder(), pair.initiator());
      const double arrived = counter(pair.initiator(), "payload.received_bytes") +
                             counter(pair.responder(), "payload.received_bytes");
      EXPECT_GT(arrived, 0);
    }
  }
}

TEST_P(Session, ErrorsHaveASlugAndAMessage) {
  SKIP_UNLESS_AVAILABLE();
  const plan::Workload& workload = transport().spec().workloads.front();
  plugin::OpenRequest request = plain_request(workload, first_direction(workload));
  request.message_bytes = -1;
  const plugin::HostServices host;
  const auto session = transport().open(host, request);
  ASSERT_FALSE(session);
  EXPECT_FALSE(session.error().slug.empty());
  EXPECT_FALSE(session.error().message.empty());
  EXPECT_EQ(session.error().exit_class, ExitClass::usage);
}

OVER_EVERY_TRANSPORT(Session);

}  // namespace
}  // namespace netbench::conformance
