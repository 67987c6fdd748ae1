#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "tests/unit/verbs/pair.hpp"

namespace netbench::verbs::test {
namespace {

using std::chrono::milliseconds;

/// What a call throws.
template <class Call>
sdk::Error error_of(Call call) {
  try {
    call();
  } catch (const sdk::Error& error) {
    return error;
  }
  return {NB_OK, "", ""};
}

/// What run() throws at the end that saw the cause: the other end merely waits in vain.
sdk::Error first_failure(Pair& pair, std::int64_t iterations) {
  auto serving = std::async(std::launch::async, [&] {
    return error_of([&] { run(pair.responder(), 0, iterations > 0 ? 0 : 20 * kMillisecond); });
  });
  sdk::Error mine = error_of([&] {
    for (int i = 0; i < 50; ++i) {
      run(pair.initiator(), iterations, iterations > 0 ? 0 : 20 * kMillisecond);
      if (serving.wait_for(milliseconds(0)) == std::future_status::ready) {
        return;
      }
    }
  });
  pair.responder().cancel();
  const sdk::Error theirs = serving.get();
  const bool told = theirs.status() != NB_OK && theirs.status() != NB_CANCELLED;
  return told ? theirs : mine;
}

struct Corruption {
  const char* name;
  Op op;
  std::int64_t bytes;
  WorkloadId workload;
  std::size_t offset;
};

class CorruptedData : public testing::TestWithParam<Corruption> {};

/// The first message is always compared whole; a wrong sequence is seen in any.
TEST_P(CorruptedData, FailsTheRow) {
  const Corruption& given = GetParam();
  Pair pair({.workload = given.workload, .message_bytes = given.bytes, .values = {op(given.op)}});
  pair.connect();
  pair.fabric().corrupt_request(given.offset);
  const sdk::Error error = first_failure(pair, given.workload == WorkloadId::latency ? 1 : 0);
  EXPECT_EQ(error.slug(), "verbs-data-mismatch") << error.message();
}

const Corruption kCorruptions[] = {
    {"SendBody", Op::send, 4096, WorkloadId::bandwidth, 17},
    {"SendSequence", Op::send, 4096, WorkloadId::bandwidth, 4090},
    {"SendOneByte", Op::send, 1, WorkloadId::bandwidth, 0},
    {"ImmLatencyBody", Op::write_imm, 4096, WorkloadId::latency, 17},
    {"SendLatencyBody", Op::send, 4096, WorkloadId::latency, 17},
    {"ImmLatencySequence", Op::write_imm, 64, WorkloadId::latency, 60},
};
INSTANTIATE_TEST_SUITE_P(Operations, CorruptedData, testing::ValuesIn(kCorruptions),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(FailedCompletion, IsNamedByItsMeaningAndNotByTheFlushesAfterIt) {
  Pair pair({.message_bytes = 4096, .values = {op(Op::write)}});
  pair.connect();
  pair.fabric().fail_request(IBV_WC_RETRY_EXC_ERR, 129, 40);
  const sdk::Error error = first_failure(pair, 0);
  EXPECT_EQ(error.slug(), "rdma-retry-exceeded") << error.message();
  EXPECT_NE(error.message().find("10.77.0.1"), std::string::npos) << error.message();
}

TEST(RefusedQueuePair, FailsTheConnectionOfBothEnds) {
  Pair pair({.message_bytes = 4096});
  pair.fabric().refuse_state(IBV_QPS_RTR, ENETUNREACH);
  const sdk::Error error = error_of([&] { pair.connect(); });
  EXPECT_EQ(error.slug().substr(0, 8), "rdma-qp-") << error.slug() << error.message();
}

TEST(DeviceRemoval, EndsARunInProgress) {
  Pair pair({.message_bytes = 4096, .values = {op(Op::send)}});
  pair.connect();
  Serving serving(pair.responder());
  std::this_thread::sleep_for(milliseconds(50));
  pair.fabric().raise("fake0", IBV_EVENT_DEVICE_FATAL, 1);
  ASSERT_TRUE(serving.ends_within(milliseconds(2000)));
  EXPECT_EQ(error_of([&] { serving.get(); }).slug(), "verbs-device-gone");
}

TEST(Cancel, EndsRunAndStopWithinItsLimit) {
  for (const WorkloadId workload : {WorkloadId::latency, WorkloadId::bandwidth}) {
    Pair pair({.workload = workload, .message_bytes = 64, .values = {op(Op::send)}});
    pair.connect();
    Serving serving(pair.responder());
    std::this_thread::sleep_for(milliseconds(30));
    pair.responder().cancel();
    ASSERT_TRUE(serving.ends_within(milliseconds(500)));
    EXPECT_EQ(error_of([&] { serving.get(); }).status(), NB_CANCELLED);
  }
}

TEST(APeerThatGoesAway, EndsTheOther) {
  for (const WorkloadId workload : {WorkloadId::latency, WorkloadId::bandwidth}) {
    Pair pair({.workload = workload, .message_bytes = 64, .values = {op(Op::send)}});
    pair.connect();
    Serving serving(pair.responder());
    std::this_thread::sleep_for(milliseconds(30));
    pair.drop_initiator();
    ASSERT_TRUE(serving.ends_within(milliseconds(3000)));
    EXPECT_EQ(error_of([&] { serving.get(); }).slug(), "verbs-peer-closed");
  }
}

TEST(ClosingAnEnd, GivesEveryObjectBack) {
  FakeVerbs* fabric = nullptr;
  Pair pair({.message_bytes = 64, .values = {op(Op::send), qp(Qp::ud), {"qps", 3}}});
  fabric = &pair.fabric();
  pair.connect();
  const std::size_t both = fabric->live();
  pair.drop_initiator();
  EXPECT_EQ(fabric->live() * 2, both);
}

}  // namespace
}  // namespace netbench::verbs::test
