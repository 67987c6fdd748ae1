#include "transports/rdma/cm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include "tests/unit/rdma/endpoint.hpp"
#include "tests/unit/rdma/fake_cm.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"

namespace netbench::rdma {
namespace {

using namespace std::chrono_literals;
using testing::FakeCm;
using testing::FakeVerbs;

/// A channel on the fakes, with a queue pair to connect.
struct Bench {
  FakeVerbs fake_verbs;
  FakeCm fake;
  VerbsTable verbs = fake_verbs.table();
  CmTable cm = fake.table();
  std::atomic<bool> cancelled{false};
  Endpoint endpoint = Endpoint::make(verbs, QpKind::rc);

  CmPatience patience(std::chrono::milliseconds length = 1s) const {
    return {std::chrono::steady_clock::now() + length, cancelled};
  }
};

sdk::Address peer() { return *sdk::parse_numeric("10.77.0.2", AF_INET); }

TEST(Cm, ResolvesAndConnectsStepByStep) {
  Bench bench;
  {
    CmChannel channel = take(CmChannel::create(bench.cm));
    CmId id = take(CmId::create(channel, QpKind::rc));
    bench.fake.put(id.get(), RDMA_CM_EVENT_ADDR_RESOLVED);
    bench.fake.put(id.get(), RDMA_CM_EVENT_ROUTE_RESOLVED);
    ASSERT_TRUE(resolve(channel, id, {}, peer(), bench.patience()));
    bench.fake.put(id.get(), RDMA_CM_EVENT_ESTABLISHED);
    const std::array<std::uint8_t, 2> data = {7, 8};
    const auto event = connect(channel, id, bench.endpoint.qp,
                               {.responder_resources = 3, .private_data = data}, bench.patience());
    ASSERT_TRUE(event) << event.error().message();
    EXPECT_EQ(bench.fake.parameters.responder_resources, 3);
    EXPECT_EQ(bench.fake.parameters.private_data_len, 2);
    EXPECT_EQ(bench.fake.unacknowledged, 0);
  }
  EXPECT_EQ(bench.fake.live, 0);
  EXPECT_EQ(bench.fake.calls, (std::vector<std::string>{"create_id", "resolve_addr",
                                                        "resolve_route", "connect", "destroy_id"}));
}

struct Failing {
  rdma_cm_event_type type;
  const char* slug;
};

class CmConnectFails : public ::testing::TestWithParam<Failing> {};

TEST_P(CmConnectFails, WithASlugOfItsEvent) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::rc));
  bench.fake.put(id.get(), GetParam().type, -110);
  const auto event = connect(channel, id, bench.endpoint.qp, {}, bench.patience());
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().slug(), GetParam().slug);
  EXPECT_NE(event.error().message().find("status -110"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Event, CmConnectFails,
    ::testing::Values(Failing{RDMA_CM_EVENT_REJECTED, "rdma-cm-rejected"},
                      Failing{RDMA_CM_EVENT_UNREACHABLE, "rdma-cm-unreachable"},
                      Failing{RDMA_CM_EVENT_DEVICE_REMOVAL, "rdma-device-removed"},
                      Failing{RDMA_CM_EVENT_DISCONNECTED, "rdma-cm-disconnected"},
                      Failing{RDMA_CM_EVENT_TIMEWAIT_EXIT, "rdma-cm-unexpected"}));

TEST(Cm, TellsARefusedDatagramServiceFromAPeerThatDoesNotAnswer) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::ud));
  bench.fake.put(id.get(), RDMA_CM_EVENT_UNREACHABLE, 1);
  const auto event = connect(channel, id, bench.endpoint.qp, {}, bench.patience());
  EXPECT_EQ(event.error().slug(), "rdma-cm-rejected");
}

TEST(Cm, NamesTheStepAtWhichTheDeadlineCame) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::rc));
  const auto resolved = resolve(channel, id, {}, peer(), bench.patience(20ms));
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().status(), NB_TIMED_OUT);
  EXPECT_NE(resolved.error().message().find("address to 10.77.0.2"), std::string::npos);
}

TEST(Cm, NamesTheAddressThatDoesNotResolve) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::rc));
  bench.fake.put(id.get(), RDMA_CM_EVENT_ADDR_ERROR, -19);
  const auto resolved = resolve(channel, id, {}, peer(), bench.patience());
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().slug(), "rdma-cm-address");
  EXPECT_EQ(resolved.error().sys_errno(), 19);
  EXPECT_NE(resolved.error().message().find("10.77.0.2"), std::string::npos);
}

TEST(Cm, EndsAtItsDeadlineAndWhenCancelled) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  EXPECT_EQ(channel.next(bench.patience(20ms)).error().status(), NB_TIMED_OUT);
  bench.cancelled = true;
  EXPECT_EQ(channel.next(bench.patience(10s)).error().status(), NB_CANCELLED);
}

TEST(Cm, KeepsARequestThatComesWhileAnotherIsAccepted) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  rdma_cm_id* first = bench.fake.incoming();
  rdma_cm_id* second = bench.fake.incoming();
  bench.fake.put(first, RDMA_CM_EVENT_CONNECT_REQUEST);
  bench.fake.put(second, RDMA_CM_EVENT_CONNECT_REQUEST);
  bench.fake.put(first, RDMA_CM_EVENT_ESTABLISHED);
  CmId one = CmId::adopt(bench.cm, take(next_request(channel, bench.patience())).id, QpKind::rc);
  ASSERT_TRUE(accept(channel, one, bench.endpoint.qp, {}, bench.patience()));
  const auto request = next_request(channel, bench.patience());
  ASSERT_TRUE(request);
  const CmId two = CmId::adopt(bench.cm, request->id, QpKind::rc);
  EXPECT_EQ(two.get(), second);
}

TEST(Cm, DestroysTheIdOfARequestThatNobodyTook) {
  Bench bench;
  {
    CmChannel channel = take(CmChannel::create(bench.cm));
    CmId id = take(CmId::create(channel, QpKind::rc));
    bench.fake.put(bench.fake.incoming(), RDMA_CM_EVENT_CONNECT_REQUEST);
    bench.fake.put(id.get(), RDMA_CM_EVENT_ESTABLISHED);
    ASSERT_TRUE(accept(channel, id, bench.endpoint.qp, {}, bench.patience()));
  }
  EXPECT_EQ(bench.fake.live, 0);
}

TEST(Cm, CopiesAnEventsDataBeforeItIsAcknowledged) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  const std::array<std::uint8_t, 3> data = {1, 2, 3};
  rdma_cm_event event{};
  event.id = bench.fake.incoming(RDMA_PS_UDP);
  event.event = RDMA_CM_EVENT_ESTABLISHED;
  event.param.ud.private_data = data.data();
  event.param.ud.private_data_len = data.size();
  event.param.ud.qp_num = 77;
  event.param.ud.qkey = 5;
  bench.fake.put(event);
  const auto copy = channel.poll();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->private_data, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(copy->peer_number, 77U);
  EXPECT_EQ(copy->peer_qkey, 5U);
  const CmId owner = CmId::adopt(bench.cm, copy->id, QpKind::ud);
}

TEST(Cm, ListensOnAPortOfTheSystemsChoice) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  const auto listener = listen(channel, QpKind::rc, peer(), 4);
  ASSERT_TRUE(listener);
  EXPECT_EQ(listener->port, 40123);
  EXPECT_EQ(listener->ids.size(), 1U);
  bench.fake.failing = "bind_addr";
  bench.fake.sys_errno = ENODEV;
  const auto refused = listen(channel, QpKind::rc, peer(), 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().slug(), "rdma-cm-bind");
}

TEST(Cm, ListensAnywhereWithAnIdOfEachFamilyOnOnePort) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  const CmListener listener = take(listen_anywhere(channel, QpKind::rc, 4));
  EXPECT_EQ(listener.ids.size(), 2U);
  EXPECT_EQ(bench.fake.bound, (std::vector<std::string>{"0.0.0.0:0", "[::]:40123"}));
  EXPECT_EQ(std::ranges::count(bench.fake.calls, "set_option 2"), 2);
}

TEST(Cm, ListensAnywhereOnTheFamilyThatThereIs) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  bench.fake.absent_family = AF_INET6;
  EXPECT_EQ(take(listen_anywhere(channel, QpKind::rc, 4)).ids.size(), 1U);
  bench.fake.absent_family = AF_INET;
  EXPECT_EQ(take(listen_anywhere(channel, QpKind::rc, 4)).ids.size(), 1U);
  bench.fake.failing = "bind_addr";
  EXPECT_EQ(listen_anywhere(channel, QpKind::rc, 4).error().slug(), "rdma-cm-bind");
}

TEST(Cm, TellsARefusalThatComesAtOnce) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::rc));
  bench.fake.failing = "connect";
  bench.fake.sys_errno = ECONNREFUSED;
  EXPECT_EQ(connect(channel, id, bench.endpoint.qp, {}, bench.patience()).error().slug(),
            "rdma-cm-rejected");
}

TEST(Cm, HasNoUnreliableConnections) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  EXPECT_EQ(CmId::create(channel, QpKind::uc).error().status(), NB_INVALID);
}

TEST(Cm, SetsOnlyTheOptionsThatAreAskedFor) {
  Bench bench;
  CmChannel channel = take(CmChannel::create(bench.cm));
  CmId id = take(CmId::create(channel, QpKind::rc));
  ASSERT_TRUE(set_options(id, {}));
  EXPECT_EQ(std::ranges::count(bench.fake.calls, "set_option 0"), 0);
  ASSERT_TRUE(set_options(id, {.traffic_class = 106, .ack_timeout = 18}));
  EXPECT_EQ(std::ranges::count(bench.fake.calls, "set_option 0"), 1);
  EXPECT_EQ(std::ranges::count(bench.fake.calls, "set_option 3"), 1);
  bench.fake.failing = "set_option 0";
  EXPECT_EQ(set_options(id, {.traffic_class = 1}).error().slug(), "rdma-cm-option");
}

}  // namespace
}  // namespace netbench::rdma
