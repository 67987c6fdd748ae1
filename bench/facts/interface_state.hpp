#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// A device stacked on the interface (VLAN, macvlan, the bridge it is a port of), whose MTU the
/// kernel lowers with the interface's but does not raise again.
struct StackedDevice {
  std::string name;
  int index = 0;
  std::int64_t mtu_bytes = 0;
};

/// What a change of the MTU can take away from an interface. Addresses and routes are the bodies of
/// the kernel's own RTM_NEWADDR and RTM_NEWROUTE messages, given back as they were.
struct InterfaceState {
  std::string boot_id;
  std::uint64_t network_namespace = 0;  // inode of /proc/thread-self/ns/net
  std::string interface;
  int index = 0;
  std::string hardware_address;
  std::int64_t mtu_bytes = 0;
  std::optional<std::int64_t> ipv6_mtu_bytes;  // net.ipv6.conf.<dev>.mtu
  std::vector<StackedDevice> stacked;
  std::vector<std::vector<std::uint8_t>> addresses;
  std::vector<std::vector<std::uint8_t>> routes;
};

/// Identity of the calling thread's network namespace within this boot, 0 if unreadable.
[[nodiscard]] std::uint64_t current_network_namespace();
[[nodiscard]] std::string current_boot_id();

/// Reads the state of an interface of this namespace. Errors: `interface-unknown`, `netlink`.
[[nodiscard]] Result<InterfaceState> capture_interface(const std::string& interface);

/// True while the interface of that state is still there, the same one.
[[nodiscard]] bool still_there(const InterfaceState& state);

/// Gives back the MTU, waits for the carrier, then gives back what is missing. Errors:
/// `knob-restore`, naming all that failed.
[[nodiscard]] Status restore_interface(const InterfaceState& state);

/// Sets an MTU by RTM_SETLINK; 0 or errno.
[[nodiscard]] int set_link_mtu(RtNetlink& netlink, int index, std::int64_t mtu_bytes);

/// Waits until the interface has a carrier, at most 5 s; false if it stays without.
[[nodiscard]] bool wait_for_carrier(const std::string& interface);

/// Lines of text, ended by "end", so that a torn write is seen. Errors of decode: `knob-journal`.
[[nodiscard]] std::string encode(const InterfaceState& state);
[[nodiscard]] Result<InterfaceState> decode(const std::string& text);

}  // namespace netbench::facts
