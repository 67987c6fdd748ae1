// What the pieces of the harness cost: the histogram, a look of the stopping rule, and a message of
// the simulated transport through the plug-in boundary.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "bench/measure/harness_cost.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/stats/histogram.hpp"
#include "bench/stats/stopping.hpp"

namespace netbench {
namespace {

constexpr std::size_t kSamples = 4096;

/// Round trips around 20 µs, some of them ten times that.
std::vector<std::uint64_t> round_trips_ns() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> usual(9.9, 0.1);
  std::vector<std::uint64_t> samples(kSamples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::uint64_t>(usual(random) * (i % 100 == 0 ? 10 : 1));
  }
  return samples;
}

void histogram_record(benchmark::State& state) {
  const std::vector<std::uint64_t> samples = round_trips_ns();
  stats::Histogram histogram;
  for ([[maybe_unused]] auto _ : state) {
    for (const std::uint64_t sample : samples) {
      histogram.record(sample);
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kSamples));
}
BENCHMARK(histogram_record);

/// One look over `range` samples; an item is a sample.
void stopping_rule_look(benchmark::State& state) {
  const std::vector<std::uint64_t> samples = round_trips_ns();
  std::vector<double> values(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(samples[i % samples.size()]);
  }
  for ([[maybe_unused]] auto _ : state) {
    stats::StoppingRule rule(stats::StoppingOptions{});
    rule.add(values);
    benchmark::DoNotOptimize(rule.look(stats::StoppingOptions{}.min_time_ns));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(stopping_rule_look)->Arg(1 << 12)->Arg(1 << 16);

/// The number that a document carries as run.harness_ns_per_message; the time is the message's.
void sim_round_trip(benchmark::State& state) {
  const plugin::PluginHost plugins;
  const plugin::HostServices services;
  for ([[maybe_unused]] auto _ : state) {
    const auto cost_ns = measure::harness_cost_ns(plugins, services);
    if (!cost_ns) {
      state.SkipWithError("no sim plug-in beside the program");
      return;
    }
    state.SetIterationTime(*cost_ns * 1e-9);
  }
}
BENCHMARK(sim_round_trip)->UseManualTime()->Iterations(20);

}  // namespace
}  // namespace netbench
