#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// A table of the older packet filter (iptables-legacy) as the kernel gives it:
/// linux/netfilter_ipv4/ ip_tables.h, ipt_getinfo and ipt_get_entries; for IPv6 the same of
/// ip6_tables.h.
struct LegacyTable {
  static constexpr std::size_t kHooks = 5;  // NF_INET_NUMHOOKS

  std::string name;  // filter, nat, mangle …
  bool ipv6 = false;
  std::uint32_t valid_hooks = 0;
  std::array<std::uint32_t, kHooks> hook_entry{};  // offsets of each chain's first rule
  std::array<std::uint32_t, kHooks> underflow{};   // and of its policy, which is a rule too
  std::vector<std::uint8_t> entries;
};

/// Its base chains, "filter (legacy)": their policies, and the rules of each with those of the
/// chains that it jumps to. Bytes that do not fit end a chain. Pure.
[[nodiscard]] std::vector<FirewallChain> parse_legacy_table(const LegacyTable& table);

/// Chains of the tables that are loaded: /proc/net/ip_tables_names and ip6_tables_names, then
/// getsockopt IPT_SO_GET_INFO and IPT_SO_GET_ENTRIES. No table is loaded by asking. Errors:
/// `not-permitted` (needs CAP_NET_ADMIN), `netlink`.
[[nodiscard]] Result<std::vector<FirewallChain>> read_legacy_firewall();

}  // namespace netbench::facts
