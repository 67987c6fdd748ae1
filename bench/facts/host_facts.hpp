#pragma once

#include <string>

#include "bench/facts/network_reader.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

struct CollectOptions {
  std::string root = "/";            // of /proc, /sys, /etc: a recorded tree in tests
  std::string local_address;         // numeric; "" = as the route chooses
  std::string peer_address;          // numeric; "" = no peer: no interface is looked for
  std::string interface;             // overrides the interface the route names
  NetworkReader* network = nullptr;  // null: the kernel's where root is "/", else none
};

/// Everything that this host shows about itself and about its interface towards the peer, in under
/// 200 ms and without changing anything. What cannot be read stands with `unknown_because`.
///
/// Keys: host.* kernel.* os.* cpu.* numa.* memory.* cgroup.* sysctl.<name>[_unit] (tcp_rmem and
/// tcp_wmem split into _min_bytes, _default_bytes, _max_bytes), path.* (interface, source, gateway,
/// same_subnet) and if.<dev>.* (mtu_bytes, min_/max_mtu_bytes, kind, driver, speed_bps, duplex,
/// carrier, qdisc, offload.{tso,gso,gro,lro}, ring.*, coalesce.*, pause.*, channels.*,
/// pcie.{speed_gtps,width_lanes,max_speed_gtps,max_width_lanes}, numa_node, address_type).
/// Speeds that virtual drivers make up (virtual_drivers.hpp) are given as unknown. [any-thread]
[[nodiscard]] HostInfo collect_host(const CollectOptions& options);

}  // namespace netbench::facts
