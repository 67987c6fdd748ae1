#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/pair.hpp"
#include "tests/conformance/transport_case.hpp"

namespace netbench::conformance {
namespace {

using plugin::Batch;
using plugin::Role;
using std::chrono::milliseconds;

class Session : public TransportCase {};

constexpr std::int64_t kWindowNs = 100'000'000;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::vector<plan::Workload> workloads_of(const plugin::Transport& transport, bool ping_pong) {
  std::vector<plan::Workload> chosen;
  for (const plan::Workload& workload : transport.spec().workloads) {
    if ((workload.pattern == plan::Pattern::ping_pong) == ping_pong &&
        workload.pattern != plan::Pattern::collective) {
      chosen.push_back(workload);
    }
  }
  return chosen;
}

Direction first_direction(const plan::Workload& workload) {
  return workload.directions.empty() ? Direction::none : workload.directions.front();
}

/// The batch a harness gives the end of a stream: windows where it receives, else until stop.
Batch stream_batch(const Pair& pair, Role role) {
  return {.duration_ns = pair.receives(role) ? kWindowNs : 0};
}

template <class Future>
bool ends_within(const Future& future, std::chrono::nanoseconds limit) {
  return future.wait_for(limit) == std::future_status::ready;
}

/// Did a cancelled call end as one? Some have nothing to wait for and are done before.
template <class T>
void expect_cancelled_or_done(const Result<T>& result) {
  if (!result) {
    EXPECT_EQ(result.error().slug, plugin::kCancelled) << result.error().message;
  }
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

/// Payload that left one end and did not reach the other: none, but for datagrams that the receiver
/// counts as lost.
void expect_delivered(plugin::TransportSession& from, plugin::TransportSession& to) {
  const double sent = counter(from, "payload.sent_bytes");
  const double received = counter(to, "payload.received_bytes");
  ASSERT_GE(sent, 0);
  ASSERT_GE(received, 0);
  const double lost = std::max(0.0, counter(to, "payload.lost_bytes"));
  EXPECT_EQ(sent, received + lost);
}

void expect_window(const plugin::BatchResult& result) {
  const double length = static_cast<double>(result.end_ns - result.begin_ns);
  EXPECT_GE(length, 0.9 * kWindowNs);
  EXPECT_LE(length, 5.0 * kWindowNs);  // a shared machine may wake late
  EXPECT_GT(result.bytes, 0);
}

void stream_once(Pair& pair) {
  auto initiator = run_async(pair.initiator(), stream_batch(pair, Role::initiator));
  auto responder = run_async(pair.responder(), stream_batch(pair, Role::responder));
  for (const auto& [role, running] :
       {std::pair(Role::initiator, &initiator), std::pair(Role::responder, &responder)}) {
    if (pair.receives(role)) {
      ASSERT_TRUE(ends_within(*running, std::chrono::seconds(5)));
      const auto result = running->get();
      ASSERT_TRUE(result) << result.error().message;
      expect_window(*result);
    }
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
      expect_delivered(pair.initiator(), pair.responder());
      expect_delivered(pair.responder(), pair.initiator());
      const double arrived = counter(pair.initiator(), "payload.received_bytes") +
                             counter(pair.responder(), "payload.received_bytes");
      EXPECT_GT(arrived, 0);
    }
  }
}

TEST_P(Session, CancelEndsRunWithinItsLimit) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : transport().spec().workloads) {
    SCOPED_TRACE(workload.name);
    Pair pair(transport(), plain_request(workload, first_direction(workload)));
    pair.connect();
    auto running = run_async(pair.responder(), {});
    EXPECT_FALSE(ends_within(running, milliseconds(50)));
    pair.responder().cancel();
    ASSERT_TRUE(ends_within(running, kCancelLimit));
    const auto result = running.get();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().slug, plugin::kCancelled);
  }
}

TEST_P(Session, CancelEndsConnectWithinItsLimit) {
  SKIP_UNLESS_AVAILABLE();
  const plan::Workload& workload = transport().spec().workloads.front();
  Pair pair(transport(), plain_request(workload, first_direction(workload)));
  const auto described = pair.responder().describe();
  ASSERT_TRUE(described) << described.error().message;
  auto connecting =
      std::async(std::launch::async, [&] { return pair.responder().connect(plugin::Blob{}); });
  EXPECT_FALSE(ends_within(connecting, milliseconds(50))) << "nobody has connected";
  pair.responder().cancel();
  ASSERT_TRUE(ends_within(connecting, kCancelLimit));
  const auto connected = connecting.get();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().slug, plugin::kCancelled) << connected.error().message;
}

TEST_P(Session, CancelEndsStopWithinItsLimit) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : transport().spec().workloads) {
    SCOPED_TRACE(workload.name);
    Pair pair(transport(), plain_request(workload, first_direction(workload)));
    pair.connect();
    auto stopping = std::async(std::launch::async, [&] { return pair.responder().stop(kStopNs); });
    std::this_thread::sleep_for(milliseconds(50));
    pair.responder().cancel();
    ASSERT_TRUE(ends_within(stopping, kCancelLimit));
    expect_cancelled_or_done(stopping.get());
  }
}

TEST_P(Session, ServingEndsWhenThePeerGoesAway) {
  SKIP_UNLESS_AVAILABLE();
  for (const plan::Workload& workload : workloads_of(transport(), true)) {
    SCOPED_TRACE(workload.name);
    Pair pair(transport(), plain_request(workload, first_direction(workload)));
    pair.connect();
    auto serving = run_async(pair.responder(), {});
    pair.drop_initiator();
    if (!ends_within(serving, std::chrono::seconds(2))) {
      pair.responder().cancel();  // a transport without connections cannot know
    }
    const auto result = serving.get();
    EXPECT_TRUE(result || !result.error().slug.empty());
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
