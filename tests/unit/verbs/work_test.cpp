#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/verbs/pair.hpp"
#include "transports/rdma/testing/stub_queue.hpp"
#include "transports/verbs/stream_loop.hpp"

namespace netbench::verbs::test {
namespace {

/// Work a message: calls of the NIC divided by messages.
struct Work {
  double requests = 0;
  double doorbells = 0;
  double polls = 0;
};

struct Setting {
  std::uint32_t depth = 128;
  std::uint32_t chain = 1;
  std::uint32_t moderation = 100;
};

/// ib_write_bw's published loop (perftest, perftest_resources.c, run_iter_bw()) on a queue where
/// every request is done at once: post chains while fewer than `depth` are under way, then poll
/// once; every `moderation`th request completes.
Work work_of_perftest(const Setting& setting) {
  constexpr std::uint64_t kMessages = 1'000'000;
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t polls = 0;
  while (completed + setting.moderation <= kMessages) {
    while (posted - completed + setting.chain <= setting.depth) {
      posted += setting.chain;
      ++doorbells;
    }
    ++polls;
    completed = posted / setting.moderation * setting.moderation;
  }
  const auto messages = static_cast<double>(posted);
  return {1, static_cast<double>(doorbells) / messages, static_cast<double>(polls) / messages};
}

Work work_of_netbench(const Setting& setting) {
  Point point{.message_bytes = 64, .values = {op(Op::write_imm)}};
  point.values.push_back({"tx_depth", setting.depth});
  point.values.push_back({"post_list", setting.chain});
  point.values.push_back({"cq_moderation", setting.moderation});
  const Options options = options_of(point);
  rdma::testing::StubQueue stub;
  LanePlan plan;
  plan.qp = stub.qp();
  plan.depths = plan_depths(options, {});
  plan.layout = plan_layout(options, plan.depths);
  plan.remote_layout = plan.layout;
  plan.remote_layout.in_slots = plan.depths.depth;
  std::vector<std::byte> memory(plan.layout.lane_bytes());
  plan.memory = memory.data();
  std::vector<LaneRings> lanes(1);
  lanes[0].send = std::make_unique<SendRing>(plan, Op::write_imm);
  StreamCounts counts;
  StreamLoop<Op::write_imm, Duty::post, true, Wait::poll> loop(
      lanes, Waiter<Wait::poll>(nullptr, nullptr), stub.cq(), counts);
  std::atomic<bool> stop{false};
  const std::atomic<bool> quit{false};
  std::thread stopper([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  EXPECT_TRUE(loop.run({stop, quit}));
  stopper.join();
  const auto messages = static_cast<double>(lanes[0].send->posted());
  return {static_cast<double>(stub.requests()) / messages,
          static_cast<double>(stub.doorbells()) / messages,
          static_cast<double>(stub.polls()) / messages};
}

TEST(WorkAMessage, IsNotMoreThanThatOfPerftest) {
  const Setting settings[] = {{}, {128, 16, 64}, {128, 32, 32}, {512, 1, 100}, {64, 8, 64}};
  for (const Setting& setting : settings) {
    const Work mine = work_of_netbench(setting);
    const Work theirs = work_of_perftest(setting);
    constexpr double kEnd = 1.001;  // the last turns of a run
    EXPECT_LE(mine.requests, theirs.requests * kEnd) << setting.depth << ' ' << setting.chain;
    EXPECT_LE(mine.doorbells, theirs.doorbells * kEnd) << setting.depth << ' ' << setting.chain;
    EXPECT_LE(mine.polls, theirs.polls * kEnd) << setting.depth << ' ' << setting.moderation;
  }
}

TEST(Depths, AreWholeIntervalsOfWholeChains) {
  for (const std::int64_t depth : {1, 2, 3, 7, 100, 128, 1000}) {
    for (const std::int64_t chain : {1, 3, 16, 64}) {
      for (const std::int64_t moderation : {1, 5, 100}) {
        Point point{.message_bytes = 64};
        point.values = {{"tx_depth", depth},
                        {"post_list", std::min(chain, depth)},
                        {"cq_moderation", std::min(moderation, depth)}};
        const Depths plan = plan_depths(options_of(point), {});
        EXPECT_EQ(plan.depth % plan.interval, 0U) << depth << ' ' << chain << ' ' << moderation;
        EXPECT_EQ(plan.interval % plan.chain, 0U) << depth << ' ' << chain << ' ' << moderation;
        EXPECT_LE(plan.depth, static_cast<std::uint32_t>(depth));
        EXPECT_TRUE(plan.depth >= 2 * plan.interval || depth == 1) << depth << ' ' << chain;
      }
    }
  }
}

}  // namespace
}  // namespace netbench::verbs::test
