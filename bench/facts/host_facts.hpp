#pragma once

#include <string>

#include "bench/facts/network_reader.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

struct CollectOptions {
  std::string root = "/";            // of /proc, /sys, /etc: a recorded tree in tests
  std::string local_address{};       // numeric; "" = as the route chooses
  std::string peer_address{};        // numeric; "" = no peer
  std::string peer_name{};           // host name that the peer gave itself; "" = not looked up
  std::string interface {};          // overrides the interface the route names
  bool every_interface = false;      // without peer and interface: all that have hardware
  Nanoseconds lldp_wait{0};          // listen so long for the switches' names; 0: do not listen
  NetworkReader* network = nullptr;  // null: the kernel's where root is "/", else the recorded one
};

/// Towards the other end of a connection with these numeric addresses; of a loopback connection
/// the name is not looked up.
[[nodiscard]] CollectOptions options_towards(const std::string& local_address,
                                             const std::string& peer_address,
                                             const std::string& peer_name);

/// Everything that this host shows about itself and about its interface towards the peer, without
/// traffic and without changing anything, in under 1 s (beside lldp_wait). What cannot be read
/// stands with `unknown_because`. [any-thread]
///
/// Keys, by their first words: host kernel os cpu numa memory cgroup process clock sysctl security
/// conntrack firewall iommu pcie nvidia cuda nccl ofed name nfs neighbour path; if.<dev>.* of the
/// interface towards the peer and of every device that it sits on, bond.<dev>.*, qdisc.<dev>.*,
/// pcie.<bdf>.*; rdma.*, rdma.<rail>.* of every port of an RDMA device. Units are in the keys'
/// suffixes. sysctl.<name>[_unit]: tcp_rmem, tcp_wmem and tcp_mem are split into _min, _default,
/// _max. Speeds that virtual drivers make up (virtual_drivers.hpp) are given as unknown.
[[nodiscard]] HostInfo collect_host(const CollectOptions& options);

}  // namespace netbench::facts
