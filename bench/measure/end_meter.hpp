#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/facts/counters.hpp"
#include "bench/facts/sampling_row.hpp"
#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// Keeps the counters of this host open over the visits of a run. [one thread at a time]
class HostMeter {
 public:
  /// `interface` carries the test traffic; `known_pids` are processes of this run beside this one.
  HostMeter(const std::string& interface, const std::vector<int>& known_pids);

  /// Reads the beginning of a row and looks at the host until end_row(); a row in progress is given
  /// up.
  void begin_row();
  /// What this host spent and counted in the row.
  [[nodiscard]] EndRecord end_row();
  /// Stops looking.
  void drop_row() { (void)row_->end(); }

 private:
  facts::CounterSampler sampler_;
  std::unique_ptr<facts::RowSampler> row_;
  facts::Snapshot before_;
};

/// What an end spent and counted between two moments.
[[nodiscard]] EndRecord end_record(const facts::Snapshot& before, const facts::Snapshot& after);

}  // namespace netbench::measure
