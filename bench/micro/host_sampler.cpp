// What looking at a host costs while a row runs: the look that is taken ten times a second, with
// the share of a core that this is, and the readings at the ends of a row.
#include <benchmark/benchmark.h>

#include <chrono>

#include "bench/facts/sampling_row.hpp"

namespace netbench::facts {
namespace {

RowSamplerOptions never_by_itself() {
  RowSamplerOptions options;
  options.interface = "lo";
  options.period = std::chrono::hours(1);
  return options;
}

void row_sampler_look(benchmark::State& state) {
  constexpr double kSecondsBetweenLooks = 0.1;
  RowSampler sampler(never_by_itself());
  sampler.begin();
  for ([[maybe_unused]] auto _ : state) {
    sampler.look();
  }
  state.counters["core_share"] =
      benchmark::Counter(kSecondsBetweenLooks, benchmark::Counter::kIsIterationInvariantRate |
                                                   benchmark::Counter::kInvert);
}
BENCHMARK(row_sampler_look);

void row_sampler_ends(benchmark::State& state) {
  RowSampler sampler(never_by_itself());
  for ([[maybe_unused]] auto _ : state) {
    sampler.begin();
    benchmark::DoNotOptimize(sampler.end());
  }
}
BENCHMARK(row_sampler_ends);

}  // namespace
}  // namespace netbench::facts
