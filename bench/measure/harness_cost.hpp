#pragma once

#include <optional>

#include "bench/model/measurement.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"

namespace netbench::measure {

/// What one reading of the measuring clock costs on this host now, ns: the median of 101 stretches
/// of 100 readings. About 0.5 ms.
[[nodiscard]] double clock_cost_ns();

/// What the harness costs for each message, ns of wall time: a batch of round trips on the
/// simulated transport, whose messages take no real time (its model's own arithmetic is counted
/// in). Nothing where that transport is not there. A few ms.
[[nodiscard]] std::optional<double> harness_cost_ns(const plugin::PluginHost& plugins,
                                                    const plugin::HostServices& services);

/// True where the harness takes over 2 % of the row's time for a message.
[[nodiscard]] bool harness_counts(const Measurement& row, double harness_ns_per_message);

}  // namespace netbench::measure
