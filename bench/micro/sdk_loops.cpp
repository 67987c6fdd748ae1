// What the measuring loops cost by themselves: the endpoints do nothing.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/loops.hpp"

namespace netbench::sdk {
namespace {

constexpr std::size_t kBatch = 4096;

struct NullEnd {
  std::uint64_t left = kBatch;
  bool send_message() noexcept {
    benchmark::ClobberMemory();
    return true;
  }
  bool receive_message() noexcept {
    benchmark::ClobberMemory();
    return true;
  }
  std::int64_t send_some() noexcept { return moved(); }
  std::int64_t receive_some() noexcept { return moved(); }
  std::int64_t moved() noexcept {
    benchmark::ClobberMemory();
    return left-- > 0 ? 64 : 0;
  }
};

void clock_stamp(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(MonotonicClock::now_ns());
  }
}
BENCHMARK(clock_stamp);

/// One clock stamp a message is all that a round trip pays.
void ping_pong_loop(benchmark::State& state) {
  std::vector<std::uint64_t> samples(kBatch);
  MonotonicClock clock;
  NullEnd endpoint;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(ping_pong(endpoint, clock, samples));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(ping_pong_loop);

void stream_send_loop(benchmark::State& state) {
  const std::atomic<bool> stop{false};
  StreamProgress progress;
  for ([[maybe_unused]] auto _ : state) {
    NullEnd endpoint;
    stream_send(endpoint, stop, progress);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(stream_send_loop);

void stream_receive_loop(benchmark::State& state) {
  StreamProgress progress;
  for ([[maybe_unused]] auto _ : state) {
    NullEnd endpoint;
    stream_receive(endpoint, progress);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(stream_receive_loop);

}  // namespace
}  // namespace netbench::sdk
