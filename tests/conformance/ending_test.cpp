#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "tests/conformance/pair.hpp"
#include "tests/conformance/transport_case.hpp"

namespace netbench::conformance {
namespace {

using std::chrono::milliseconds;

class Ending : public TransportCase {};

TEST_P(Ending, CancelEndsRunWithinItsLimit) {
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

TEST_P(Ending, CancelEndsConnectWithinItsLimit) {
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

TEST_P(Ending, CancelEndsStopWithinItsLimit) {
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

TEST_P(Ending, ServingEndsWhenThePeerGoesAway) {
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

OVER_EVERY_TRANSPORT(Ending);

}  // namespace
}  // namespace netbench::conformance
