#pragma once

#include <string>
#include <vector>

#include "bench/facts/collectors.hpp"

namespace netbench::facts {

/// The devices that one sits on directly: what a VLAN or tunnel is on, the members of a bond, a
/// bridge or a team. A veth pair's other end is none. Pure.
[[nodiscard]] std::vector<LinkInfo> devices_below(const LinkInfo& link,
                                                  const std::vector<LinkInfo>& all);

/// The device and everything below it, level by level, each once, at most 32. Pure.
[[nodiscard]] std::vector<StackedLink> device_stack(const LinkInfo& top,
                                                    const std::vector<LinkInfo>& all);

/// "bond0.5 > bond0 > eth0,eth1". Pure.
[[nodiscard]] std::string stack_text(const std::vector<StackedLink>& stack);

/// Bytes that the tunnels of a stack put around an IP packet. RFC 7348 (VXLAN), RFC 8926 (Geneve,
/// without options), RFC 2784 (GRE), RFC 2003 (IPIP), WireGuard's protocol page; outer IPv4 of 20
/// bytes unless the tunnel runs over IPv6. Pure.
[[nodiscard]] std::int64_t tunnel_overhead_bytes(const std::vector<StackedLink>& stack);

}  // namespace netbench::facts
