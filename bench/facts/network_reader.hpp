#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

/// Counters under the kernel's names, in its order.
using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

/// Things told by a name, in the order in which they were told.
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// One network interface as rtnetlink shows it (RTM_GETLINK; linux/if_link.h).
struct LinkInfo {
  std::string name;
  int index = 0;
  std::int64_t mtu_bytes = 0;
  std::int64_t min_mtu_bytes = 0;  // IFLA_MIN_MTU; 0: the driver names no limit
  std::int64_t max_mtu_bytes = 0;  // IFLA_MAX_MTU; 0: the driver names no limit
  bool admin_up = false;
  bool loopback = false;           // IFF_LOOPBACK
  std::optional<bool> carrier;     // IFLA_CARRIER
  std::string kind;                // IFLA_INFO_KIND: veth, bridge, vlan …; "" for hardware and lo
  std::string qdisc;               // IFLA_QDISC, the root queueing discipline
  std::string hardware_address;    // "02:00:…"
  int lower_index = 0;             // IFLA_LINK in this namespace (vlan, macvlan); 0: none
  int master_index = 0;            // IFLA_MASTER (bond, bridge); 0: none
  NamedCounts statistics;          // IFLA_STATS64, names as in /sys/class/net/<dev>/statistics,
                                   // and carrier_changes
  std::int64_t queue_packets = 0;  // IFLA_TXQLEN
  std::optional<std::int64_t> carrier_changes;  // IFLA_CARRIER_CHANGES
  std::string bus_address;                      // IFLA_PARENT_DEV_NAME, "0000:41:00.0"; "" if none
  bool xdp = false;                             // a BPF program is attached to it
  NamedValues details;  // IFLA_INFO_DATA of its kind: bond.mode, vlan.id … (link_parser.hpp)
  NamedValues member_details;  // IFLA_INFO_SLAVE_DATA: what its master knows of it
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

/// A queueing discipline of an interface (RTM_GETQDISC) and, where it has classes, the fastest.
struct DisciplineInfo {
  std::string kind;  // fq, tbf, netem, mq …
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;  // TC_H_ROOT for the root, TC_H_INGRESS for ingress and clsact
  NamedValues parameters;    // rate_bps, limit_packets, delay_s … (discipline.hpp)
};

/// An entry of the neighbour table (RTM_GETNEIGH).
struct NeighbourInfo {
  int interface_index = 0;
  std::string address;
  std::string state;             // reachable, stale, failed …: NUD_* of linux/neighbour.h
  std::string hardware_address;  // "" if none is known
};

/// A chain of a packet filter that packets meet by themselves, with the chains it jumps to.
struct FirewallChain {
  std::string table;
  std::string name;
  std::string hook;    // prerouting, input, forward, output, postrouting, ingress
  std::string policy;  // accept or drop
  std::int64_t rules = 0;
  bool refuses = false;  // a rule of it drops or rejects
};

/// Pages of a plug-in module's memory, as its kind orders them (SFF-8024 identifier in byte 0).
struct ModuleMemory {
  std::vector<std::uint8_t> lower;     // bytes 0-255 of address 0x50, page 0
  std::vector<std::uint8_t> monitors;  // SFF-8472: address 0x51, bytes 0-127; CMIS: page 0x11
  std::vector<std::uint8_t> limits;    // SFF-8636: page 3; CMIS: page 2; both bytes 128-255
};

/// An LLDP frame and the interface at which it came in.
struct LldpFrame {
  std::string interface;
  std::vector<std::uint8_t> bytes;
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

  // What a fake need not answer. Errors: `not-recorded` by default; `netlink`, `not-permitted`.
  [[nodiscard]] virtual Result<std::vector<DisciplineInfo>> disciplines(const LinkInfo& link);
  [[nodiscard]] virtual Result<std::vector<NeighbourInfo>> neighbours();
  [[nodiscard]] virtual Result<std::vector<FirewallChain>> firewall();
  /// The same of the older filter (iptables-legacy), where its tables are loaded.
  [[nodiscard]] virtual Result<std::vector<FirewallChain>> legacy_firewall();
  [[nodiscard]] virtual Result<ModuleMemory> module_memory(const std::string& name);
  /// Facts of a cable test, keys relative to the interface; takes its link down for some seconds.
  [[nodiscard]] virtual Result<std::vector<Fact>> test_cable(const std::string& name,
                                                             Nanoseconds limit);
  /// The first LLDP frame that comes in at each interface, or fewer when `limit` is over: pairs of
  /// interface and frame, from the Ethernet header on. Errors also: `not-permitted`.
  [[nodiscard]] virtual Result<std::vector<LldpFrame>> lldp_frames(
      const std::vector<std::string>& names, Nanoseconds limit);
};

/// The kernel's, for the network namespace of the calling thread. Errors: `netlink`.
[[nodiscard]] Result<std::unique_ptr<NetworkReader>> open_kernel_network();

}  // namespace netbench::facts
