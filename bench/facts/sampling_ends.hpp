#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/facts/counters.hpp"
#include "bench/facts/sampling_text.hpp"

namespace netbench::facts {

/// What is read once at each end of a row: few small files, about 0.1 ms.
struct HostEnds {
  std::map<std::string, std::uint64_t> counts;  // count up: psi.*, aer.<dev>.*, if.<bond member>.*
  std::map<std::string, std::uint64_t> gauges;  // packet_sockets.foreign, conntrack.count
  std::vector<std::optional<CpuLimitCounts>>
      cpu_limits;                    // of the own control group and those above
  std::vector<std::string> missing;  // "<source>: <why>"
};

struct HostEndsOptions {
  std::string root = "/";
  std::string interface;        // "" = no AER counters, no bond members
  int interface_index = 0;      // 0 = packet sockets of all interfaces only
  std::vector<int> known_pids;  // processes of this run besides ours: their sockets are not foreign
};

/// [any-thread]; of the network namespace of the calling thread.
[[nodiscard]] HostEnds read_host_ends(const HostEndsOptions& options);

/// Keys: cgroup.{nr_periods,nr_throttled,throttled_s} of the group that was throttled most, the own
/// or one above it, psi.cpu_some_us, aer.<dev>.{correctable,nonfatal,fatal},
/// if.<member>.{rx,tx}_bytes of the bond that carries the row: differences, 0 too;
/// packet_sockets.foreign, the larger of both; conntrack.count at the end. A source that one end
/// could not read gives no key and a note. Pure.
[[nodiscard]] CounterDelta host_ends_delta(const HostEnds& before, const HostEnds& after);

}  // namespace netbench::facts
