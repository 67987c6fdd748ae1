#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/facts/counters.hpp"

namespace netbench::facts {

/// Readings of the RDMA ports at one moment, by key: rdma.<rail>.<the kernel's name>.
struct RdmaCounts {
  std::map<std::string, std::uint64_t> counts;
  std::vector<std::string> missing;  // "<source>: <why>"
};

/// Reads ports/<n>/counters and ports/<n>/hw_counters of every rail of a host. Without an RDMA
/// device it costs nothing. Gauges (active queue pairs, current rate) are not read. [one thread at
/// a time]
class RdmaCounterReader {
 public:
  /// Looks for the counters below `root` and keeps where they are.
  explicit RdmaCounterReader(std::string root);

  /// Reads them all. The kernel hands out what it read of the hardware up to `lifespan` ago (10 ms
  /// by default: Documentation/ABI/stable/sysfs-class-infiniband), so that a reading sooner than
  /// that after the last one waits for it to be over.
  [[nodiscard]] RdmaCounts take();

 private:
  struct File {
    std::string key;
    std::string path;
  };

  void find_files();

  std::string root_;
  std::vector<File> files_;
  Nanoseconds lifespan_{0};
  std::int64_t last_ns_ = 0;
};

/// Differences of the counters that moved, in the kernel's units. One that ran backwards (wrap,
/// reset) is dropped and noted; so is a counter of a few bits that stands at its maximum, where it
/// stays (InfiniBand Architecture 1.5, volume 1, section 16.1.3.5, PortCounters). Pure.
[[nodiscard]] CounterDelta rdma_delta(const RdmaCounts& before, const RdmaCounts& after);

}  // namespace netbench::facts
