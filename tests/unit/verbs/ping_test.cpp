#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/verbs/pair.hpp"

namespace netbench::verbs::test {
namespace {

struct Case {
  const char* name;
  Op op;
  std::int64_t bytes;
  bool in_order = false;
  const char* method = "";
  Wait wait = Wait::adaptive;
  Qp qp = Qp::rc;
};

class PingPongs : public testing::TestWithParam<Case> {};

TEST_P(PingPongs, YieldExactlyTheSamplesAskedFor) {
  const Case& given = GetParam();
  FakeDevice device;
  device.in_order = given.in_order;
  Pair pair({.workload = WorkloadId::latency,
             .message_bytes = given.bytes,
             .values = {op(given.op), wait(given.wait), qp(given.qp)}},
            device);
  pair.connect();
  Serving serving(pair.responder());
  // Two ends that never sleep take turns by the scheduler's ticks where they share a core.
  const std::int64_t many = given.wait == Wait::poll ? 10 : 300;
  for (const std::int64_t iterations : {std::int64_t{1}, std::int64_t{7}, many}) {
    const Ran ran = run(pair.initiator(), iterations, 0);
    EXPECT_EQ(ran.result.sample_count, static_cast<std::size_t>(iterations));
    EXPECT_GT(std::ranges::min(ran.samples), 0U);
    EXPECT_GT(ran.result.end_ns, ran.result.begin_ns);
  }
  pair.stop();
  serving.get();
  const auto ours = counters_of(pair.initiator());
  const auto theirs = counters_of(pair.responder());
  EXPECT_EQ(ours.at("payload.sent_bytes"), static_cast<double>((8 + many) * given.bytes));
  EXPECT_EQ(ours.at("payload.sent_bytes"), theirs.at("payload.received_bytes"));
  EXPECT_EQ(theirs.at("payload.sent_bytes"), ours.at("payload.received_bytes"));
  EXPECT_EQ(ours.at("verbs.check_failed") + theirs.at("verbs.check_failed"), 0);
  EXPECT_NE(std::string(pair.initiator().method()).find(given.method), std::string::npos)
      << pair.initiator().method();
}

const Case kCases[] = {
    {"WriteInOrder", Op::write, 64, true, "poll the last bytes"},
    {"WriteInOrderOneByte", Op::write, 1, true, "poll the last bytes"},
    {"WriteInOrderOdd", Op::write, 1001, true, "poll the last bytes"},
    {"WriteUnordered", Op::write, 64, false, "write with immediate"},
    {"WriteWithEvents", Op::write, 64, true, "write with immediate", Wait::event},
    {"WriteUc", Op::write, 64, false, "write with immediate", Wait::adaptive, Qp::uc},
    {"Imm", Op::write_imm, 4096, true, "write with immediate"},
    {"Send", Op::send, 64, false, "send ping-pong"},
    {"SendOneByte", Op::send, 1, false, "send ping-pong"},
    {"SendPolled", Op::send, 64, false, "send ping-pong", Wait::poll},
    {"SendEvents", Op::send, 65536, false, "send ping-pong", Wait::event},
    {"SendUd", Op::send, 512, false, "send ping-pong", Wait::adaptive, Qp::ud},
    {"Read", Op::read, 4096, false, "whole operation"},
    {"ReadEvents", Op::read, 8, false, "whole operation", Wait::event},
    {"FetchAdd", Op::fetch_add, 8, false, "whole operation"},
    {"CompareSwap", Op::compare_swap, 8, false, "whole operation"},
};
INSTANTIATE_TEST_SUITE_P(Operations, PingPongs, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(WriteLatency, NeverPollsMemoryWithRelaxedOrdering) {
  FakeDevice device;
  device.in_order = true;
  Pair pair({.workload = WorkloadId::latency,
             .message_bytes = 64,
             .values = {op(Op::write), {"relaxed_ordering", 1}}},
            device);
  pair.connect();
  EXPECT_NE(std::string(pair.initiator().method()).find("memory is not polled"), std::string::npos)
      << pair.initiator().method();
}

}  // namespace
}  // namespace netbench::verbs::test
