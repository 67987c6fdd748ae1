#include "bench/measure/end_meter.hpp"

namespace netbench::measure {

namespace {

template <class Options>
Options options_for(const std::string& interface, const std::vector<int>& known_pids) {
  Options options;
  options.interface = interface;
  options.known_pids = known_pids;
  return options;
}

}  // namespace

HostMeter::HostMeter(const std::string& interface, const std::vector<int>& known_pids)
    : sampler_(
          facts::CounterSampler::open(options_for<facts::SnapshotOptions>(interface, known_pids))),
      row_(std::make_unique<facts::RowSampler>(
          options_for<facts::RowSamplerOptions>(interface, known_pids))) {}

void HostMeter::begin_row() {
  before_ = sampler_.take();
  row_->begin();
}

EndRecord HostMeter::end_row() {
  EndRecord record = end_record(before_, sampler_.take());
  record.counters.merge(row_->end().counters);
  return record;
}

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
