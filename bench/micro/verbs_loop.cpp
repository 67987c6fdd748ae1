// What the verbs loop costs a message by itself: on a queue where every request is done when it is
// posted. At most 5 ns a message where requests are chained.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "transports/rdma/message.hpp"
#include "transports/rdma/testing/stub_queue.hpp"
#include "transports/verbs/stream_loop.hpp"

namespace netbench::verbs {
namespace {

constexpr std::uint32_t kDepth = 128;

/// One queue pair on a stub, with its memory.
struct StubLane {
  StubLane(Op op, std::size_t bytes, std::uint32_t chain, std::uint32_t interval) {
    LanePlan plan;
    plan.qp = stub.qp();
    plan.layout.message_bytes = bytes;
    plan.layout.stride = (bytes + 63) / 64 * 64;
    plan.layout.in_slots = kDepth;
    plan.layout.out_slots = kDepth;
    plan.remote_layout = plan.layout;
    plan.depths.depth = kDepth;
    plan.depths.chain = chain;
    plan.depths.interval = interval;
    plan.inline_bytes = 64;
    plan.compare_every = rdma::sampling_distance(bytes);
    memory.resize(plan.layout.lane_bytes());
    plan.memory = memory.data();
    lanes.resize(1);
    lanes[0].send = std::make_unique<SendRing>(plan, op);
  }

  rdma::testing::StubQueue stub;
  std::vector<std::byte> memory;
  std::vector<LaneRings> lanes;
};

/// The loop itself, stopped from outside after a while.
template <Op kOp>
void stream_loop(benchmark::State& state) {
  StubLane lane(kOp, 64, static_cast<std::uint32_t>(state.range(0)), 32);
  StreamCounts counts;
  for ([[maybe_unused]] auto _ : state) {
    StreamLoop<kOp, Duty::post, true, Wait::poll> loop(
        lane.lanes, Waiter<Wait::poll>(nullptr, nullptr), lane.stub.cq(), counts);
    std::atomic<bool> stop{false};
    const std::atomic<bool> quit{false};
    std::thread stopper([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop = true;
    });
    const std::int64_t begin_ns = sdk::MonotonicClock::now_ns();
    benchmark::DoNotOptimize(loop.run({stop, quit}));
    state.SetIterationTime(static_cast<double>(sdk::MonotonicClock::now_ns() - begin_ns) * 1e-9);
    stopper.join();
  }
  const auto messages = static_cast<double>(lane.lanes[0].send->posted());
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
  state.counters["message"] =
      benchmark::Counter(messages, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["doorbells"] = static_cast<double>(lane.stub.doorbells()) / messages;
  state.counters["polls"] = static_cast<double>(lane.stub.polls()) / messages;
}
BENCHMARK(stream_loop<Op::write>)->Arg(1)->Arg(16)->UseManualTime();
BENCHMARK(stream_loop<Op::write_imm>)->Arg(1)->Arg(16)->UseManualTime();
BENCHMARK(stream_loop<Op::send>)->Arg(1)->Arg(16)->UseManualTime();

}  // namespace
}  // namespace netbench::verbs
