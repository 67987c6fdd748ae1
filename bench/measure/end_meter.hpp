#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/facts/counters.hpp"
#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// Keeps the counters of this host open over the visits of a run. [one thread at a time]
class HostMeter {
 public:
  /// `interface` carries the test traffic; `known_pids` are processes of this run beside this one.
  HostMeter(std::string interface, std::vector<int> known_pids);

  [[nodiscard]] facts::Snapshot take() { return sampler_.take(); }

 private:
  facts::CounterSampler sampler_;
};

/// What an end spent and counted between two moments.
[[nodiscard]] EndRecord end_record(const facts::Snapshot& before, const facts::Snapshot& after);

}  // namespace netbench::measure
