#pragma once

#include "bench/facts/network_reader.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// One RTM_NEWLINK message without its nlmsghdr. Pure; hostile bytes give fewer fields.
///
/// `details` by kind: bond {mode, xmit_hash_policy, active_index, miimon_ms, lacp_rate,
/// aggregator_id, ports, partner_mac}, vlan {id, protocol}, vxlan {id, lower_index, over_ipv6},
/// geneve {id, over_ipv6}, gre, gretap, ipip, sit, ip6tnl {lower_index}, bridge {stp,
/// vlan_filtering}. `member_details` of a bond's member: {state, mii_up, link_failures,
/// permanent_mac, aggregator_id}. Names as in Documentation/networking/bonding.rst.
[[nodiscard]] LinkInfo parse_link(ByteSpan body);

/// The value of that name, or null.
[[nodiscard]] const Value* find_value(const NamedValues& values, std::string_view name);
/// As a whole number, 0 where it is none or not there.
[[nodiscard]] std::int64_t integer_of(const NamedValues& values, std::string_view name);

}  // namespace netbench::facts
