#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

/// Counters under the kernel's names, in its order.
using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

/// One network interface as rtnetlink shows it (RTM_GETLINK; linux/if_link.h).
struct LinkInfo {
  std::string name;
  int index = 0;
  std::int64_t mtu_bytes = 0;
  std::int64_t min_mtu_bytes = 0;  // IFLA_MIN_MTU; 0: the driver names no limit
  std::int64_t max_mtu_bytes = 0;  // IFLA_MAX_MTU; 0: the driver names no limit
  bool admin_up = false;
  bool loopback = false;         // IFF_LOOPBACK
  std::optional<bool> carrier;   // IFLA_CARRIER
  std::string kind;              // IFLA_INFO_KIND: veth, bridge, vlan …; "" for hardware and lo
  std::string qdisc;             // IFLA_QDISC, the root queueing discipline
  std::string hardware_address;  // "02:00:…"
  int lower_index = 0;           // IFLA_LINK in this namespace (vlan, macvlan); 0: none
  int master_index = 0;          // IFLA_MASTER (bond, bridge); 0: none
  NamedCounts statistics;        // IFLA_STATS64, names as in /sys/class/net/<dev>/statistics
};

/// How the kernel would send to a peer (RTM_GETROUTE).
struct RouteInfo {
  int interface_index = 0;
  std::string interface;
  std::string source_address;  // RTA_PREFSRC, "" if none
  std::string gateway;         // "" when the peer is on the link
  std::int64_t mtu_bytes = 0;  // RTAX_MTU of the route, 0: none
};

/// One address of an interface.
struct InterfaceAddress {
  int interface_index = 0;
  std::string address;  // without prefix length and scope
  int prefix_length = 0;
  bool ipv6 = false;
};

/// What the kernel knows about the network of this namespace. The seam between the collectors and
/// rtnetlink and ethtool ioctls: tests give a fake. All calls [one thread at a time].
class NetworkReader {
 public:
  NetworkReader() = default;
  NetworkReader(const NetworkReader&) = delete;
  NetworkReader& operator=(const NetworkReader&) = delete;
  virtual ~NetworkReader() = default;

  /// Route to a numeric address ("%scope" allowed for link-local), from `local` unless empty. An
  /// address of this host routes to lo. Errors: `bad-address`, `route-lookup`.
  [[nodiscard]] virtual Result<RouteInfo> route_to(const std::string& peer,
                                                   const std::string& local) = 0;
  [[nodiscard]] virtual Result<std::vector<LinkInfo>> links() = 0;
  /// Errors: `interface-unknown`.
  [[nodiscard]] virtual Result<LinkInfo> link(const std::string& name) = 0;
  [[nodiscard]] virtual Result<std::vector<InterfaceAddress>> addresses() = 0;
  /// Facts of ethtool(8)'s ioctls with keys relative to the interface: driver, speed_bps, duplex,
  /// offload.tso, ring.rx_descriptors …; as the driver says them, also where it invents them.
  [[nodiscard]] virtual std::vector<Fact> ethtool_facts(const std::string& name) = 0;
  /// `ethtool -S`; empty where the driver has none.
  [[nodiscard]] virtual NamedCounts ethtool_statistics(const std::string& name) = 0;
};

/// The kernel's, for the network namespace of the calling thread. Errors: `netlink`.
[[nodiscard]] Result<std::unique_ptr<NetworkReader>> open_kernel_network();

}  // namespace netbench::facts
