#include "bench/measure/harness_cost.hpp"

#include <array>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/plugin/session.hpp"
#include "bench/stats/quantile.hpp"

namespace netbench::measure {

namespace {

constexpr std::size_t kOperations = 20'000;
constexpr double kNoticeableShare = 0.02;
constexpr const char* kSimulation = "sim";

plugin::OpenRequest simulated(plugin::Role role) {
  plugin::OpenRequest request;
  request.role = role;
  request.workload = "latency";
  request.message_bytes = 64;
  request.seed = 1;
  return request;
}

/// Wall time of one operation in a batch of the connected initiator, ns.
std::optional<double> time_batch(plugin::TransportSession& initiator) {
  std::vector<std::uint64_t> samples(kOperations);
  const std::int64_t began = monotonic_ns();
  const auto result = initiator.run({static_cast<std::int64_t>(samples.size()), 0}, samples);
  const auto elapsed = static_cast<double>(monotonic_ns() - began);
  return result ? std::optional(elapsed / static_cast<double>(kOperations)) : std::nullopt;
}

}  // namespace

double clock_cost_ns() {
  constexpr int kReadings = 100;
  std::array<double, 101> stretches{};
  for (double& stretch : stretches) {
    const std::int64_t began = monotonic_ns();
    std::int64_t last = began;
    for (int i = 0; i < kReadings; ++i) {
      last = monotonic_ns();
    }
    stretch = static_cast<double>(last - began) / kReadings;
  }
  return stats::median(stretches);
}

std::optional<double> harness_cost_ns(const plugin::PluginHost& plugins,
                                      const plugin::HostServices& services) {
  const auto transport = plugins.load(kSimulation);
  if (!transport) {
    return std::nullopt;
  }
  auto responder = transport->open(services, simulated(plugin::Role::responder));
  auto initiator = transport->open(services, simulated(plugin::Role::initiator));
  if (!responder || !initiator) {
    return std::nullopt;
  }
  const auto blob = responder->describe();
  if (!blob || !initiator->connect(*blob)) {
    return std::nullopt;
  }
  return time_batch(*initiator);
}

bool harness_counts(const Measurement& row, double harness_ns_per_message) {
  const Summary& summary = row.summary;
  double message_ns = 0;
  if (summary.rtt_p50_ns) {
    message_ns = *summary.rtt_p50_ns;
  } else if (summary.messages_per_s && *summary.messages_per_s > 0) {
    message_ns = 1e9 / *summary.messages_per_s;
  }
  return message_ns > 0 && harness_ns_per_message > kNoticeableShare * message_ns;
}

}  // namespace netbench::measure
