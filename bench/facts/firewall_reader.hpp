#pragma once

#include <span>

#include "bench/facts/network_reader.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// Base chains of nf_tables in this network namespace with what their rules do, through
/// NETLINK_NETFILTER; iptables-nft's among them. Errors: `not-permitted` (needs CAP_NET_ADMIN),
/// `no-nf-tables`, `netlink`.
[[nodiscard]] Result<std::vector<FirewallChain>> read_firewall();

/// The same from the kernel's messages (NFT_MSG_GETCHAIN, NFT_MSG_GETRULE), without their nlmsghdr.
/// A base chain counts as its own the rules of the chains that it jumps to; jumps through verdict
/// maps are not followed. Pure.
[[nodiscard]] std::vector<FirewallChain> parse_firewall(std::span<const NetlinkMessage> chains,
                                                        std::span<const NetlinkMessage> rules);

}  // namespace netbench::facts
