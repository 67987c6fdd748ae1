#include "bench/measure/end_meter.hpp"

#include <utility>

namespace netbench::measure {

namespace {

facts::SnapshotOptions snapshot_options(std::string interface, std::vector<int> known_pids) {
  facts::SnapshotOptions options;
  options.interface = std::move(interface);
  options.known_pids = std::move(known_pids);
  return options;
}

}  // namespace

HostMeter::HostMeter(std::string interface, std::vector<int> known_pids)
    : sampler_(facts::CounterSampler::open(
          snapshot_options(std::move(interface), std::move(known_pids)))) {}

EndRecord end_record(const facts::Snapshot& before, const facts::Snapshot& after) {
  const facts::CpuUse cpu = facts::cpu_use(before, after);
  EndRecord record;
  record.counters = facts::delta(before, after).counters;
  record.cpu_s = cpu.own_s;
  record.softirq_s = cpu.softirq_s;
  record.steal_s = cpu.steal_s;
  record.foreign_cpu_s = cpu.foreign_s;
  record.elapsed_s = cpu.elapsed_s;
  return record;
}

}  // namespace netbench::measure
