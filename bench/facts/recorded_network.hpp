#pragma once

#include <memory>
#include <string>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// The kernel's answers as text files below `root`, beside a recorded /proc and /sys, so that a
/// folder can play any machine. Null where there is no folder kernel/link.
///
///   kernel/link/DEV        key TAB value: the fields of LinkInfo (index, mtu_bytes, min_mtu_bytes,
///                          max_mtu_bytes, admin_up, loopback, carrier, kind, qdisc, lower_index,
///                          hardware_address, master_index, queue_packets, carrier_changes,
///                          bus_address, xdp), detail.NAME and member.NAME
///   kernel/ethtool/DEV     key TAB value of ethtool_facts(); a value "?reason" is unknown
///   kernel/address         DEV ADDRESS/PREFIX, a line each
///   kernel/route           PEER|* DEV SOURCE|- GATEWAY|- [MTU]; the first line that fits holds
///   kernel/neighbour       DEV ADDRESS STATE MAC|-
///   kernel/qdisc/DEV       KIND root|child|ingress [NAME=VALUE …]
///   kernel/firewall        TABLE CHAIN HOOK POLICY RULES refuses|-
///   kernel/module/DEV      lower|monitors|limits TAB bytes in hexadecimal
///   kernel/lldp/DEV        a frame in hexadecimal
[[nodiscard]] std::unique_ptr<NetworkReader> open_recorded_network(const std::string& root);

}  // namespace netbench::facts
