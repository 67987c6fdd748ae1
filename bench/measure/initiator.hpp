#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/measure/end_meter.hpp"
#include "bench/measure/mtu_axis.hpp"
#include "bench/model/document.hpp"
#include "bench/plan/plan.hpp"
#include "bench/plan/time_plan.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/session/channel.hpp"

namespace netbench::measure {

/// Gets what the sweep produces, as it is produced. Called on the control thread, never while a
/// visit measures.
class SweepSink {
 public:
  virtual ~SweepSink() = default;
  /// Visit number `done` (from 0) of `total` begins.
  virtual void visit_begins(const plan::TestPoint& point, std::size_t done, std::size_t total) = 0;
  /// Row `index` got a round, or failed one.
  virtual void row_changed(const std::vector<Measurement>& rows, std::size_t index) = 0;
};

/// What a sweep runs with; everything must outlive run_sweep().
struct SweepContext {
  session::Channel& channel;
  const plugin::PluginHost& plugins;
  const plugin::HostServices& services;
  const HostInfo& local;
  const HostInfo& remote;
  std::vector<std::uint8_t> remote_address;  // sockaddr of the agent
  std::vector<std::uint8_t> local_address;   // sockaddr of this end of the control channel
  bool same_machine = false;
  HostMeter& meter;
  double latency_precision = 0.01;
  double bandwidth_precision = 0.005;
  const std::atomic<bool>& interrupted;
};

/// One empty row per point, in the plan's order.
[[nodiscard]] std::vector<Measurement> empty_rows(const plan::SweepPlan& plan);

/// Visits every point of the plan in its order, except rounds that `rows` already has (resume), and
/// fills the rows. A point that fails costs its round; the sweep goes on. Errors end the sweep and
/// keep the rows: `peer-lost`, `peer-closed`, or `interrupted` (exit class interrupted).
[[nodiscard]] Status run_sweep(const plan::SweepPlan& plan, const plan::TimePlan& time,
                               MtuAxis& mtu, const SweepContext& context,
                               std::vector<Measurement>& rows, SweepSink& sink);

}  // namespace netbench::measure
