#include "bench/facts/link_parser.hpp"

#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>

#include "bench/facts/addresses.hpp"

namespace netbench::facts {

namespace {

// rtnl_link_stats64 in its order (linux/if_link.h), named as in sysfs.
constexpr std::array<const char*, 24> kStatistics{
    "rx_packets",        "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",         "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",         "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",     "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",  "rx_compressed",     "tx_compressed",    "rx_nohandler"};

// Numbers of linux/if_bonding.h, under the names of bonding.rst.
constexpr std::array<std::string_view, 7> kBondModes{"balance-rr", "active-backup", "balance-xor",
                                                     "broadcast",  "802.3ad",       "balance-tlb",
                                                     "balance-alb"};
constexpr std::array<std::string_view, 6> kHashPolicies{"layer2",   "layer3+4", "layer2+3",
                                                        "encap2+3", "encap3+4", "vlan+srcmac"};
constexpr std::array<std::string_view, 2> kLacpRates{"slow", "fast"};
constexpr std::array<std::string_view, 2> kMemberStates{"active", "backup"};

NamedCounts parse_statistics(ByteSpan attribute) {
  NamedCounts counts;
  for (const char* name : kStatistics) {
    if (attribute.size() < sizeof(std::uint64_t)) {
      break;
    }
    counts.emplace_back(name, header_of<std::uint64_t>(attribute));
    attribute = attribute.subspan(sizeof(std::uint64_t));
  }
  return counts;
}

/// Adds attributes of one nest to named values.
class Details {
 public:
  explicit Details(ByteSpan nest) : nest_(nest) {}

  template <class T>
  void number(const char* name, std::uint16_t type) {
    if (const auto value = attribute_number<T>(nest_, type); value) {
      values_.emplace_back(name, static_cast<std::int64_t>(*value));
    }
  }
  template <std::size_t N>
  void choice(const char* name, std::uint16_t type,
              const std::array<std::string_view, N>& choices) {
    if (const auto value = attribute_number<std::uint8_t>(nest_, type); value) {
      values_.emplace_back(
          name, *value < N ? std::string(choices.at(*value)) : fmt::format("number {}", *value));
    }
  }
  void flag(const char* name, std::uint16_t type) {
    if (const auto value = attribute_number<std::uint8_t>(nest_, type); value) {
      values_.emplace_back(name, *value != 0);
    }
  }
  void mac(const char* name, std::uint16_t type) {
    if (const ByteSpan value = find_attribute(nest_, type); !value.empty()) {
      values_.emplace_back(name, hardware_text(value));
    }
  }
  void add(const char* name, Value value) { values_.emplace_back(name, std::move(value)); }
  [[nodiscard]] bool has(std::uint16_t type) const { return !find_attribute(nest_, type).empty(); }
  [[nodiscard]] ByteSpan nest() const { return nest_; }
  [[nodiscard]] NamedValues take() { return std::move(values_); }

 private:
  ByteSpan nest_;
  NamedValues values_;
};

void parse_bond(Details& bond) {
  bond.choice("mode", IFLA_BOND_MODE, kBondModes);
  bond.choice("xmit_hash_policy", IFLA_BOND_XMIT_HASH_POLICY, kHashPolicies);
  bond.number<std::uint32_t>("active_index", IFLA_BOND_ACTIVE_SLAVE);
  bond.number<std::uint32_t>("miimon_ms", IFLA_BOND_MIIMON);
  const ByteSpan lacp = find_attribute(bond.nest(), IFLA_BOND_AD_INFO);
  if (lacp.empty()) {
    return;
  }
  bond.choice("lacp_rate", IFLA_BOND_AD_LACP_RATE, kLacpRates);
  Details info(lacp);
  info.number<std::uint16_t>("aggregator_id", IFLA_BOND_AD_INFO_AGGREGATOR);
  info.number<std::uint16_t>("ports", IFLA_BOND_AD_INFO_NUM_PORTS);
  info.mac("partner_mac", IFLA_BOND_AD_INFO_PARTNER_MAC);
  for (auto& [name, value] : info.take()) {
    bond.add(name.c_str(), std::move(value));
  }
}

void parse_vlan(Details& vlan) {
  vlan.number<std::uint16_t>("id", IFLA_VLAN_ID);
  constexpr std::uint16_t kServiceTag = 0xA888;  // 0x88A8, 802.1ad, as read on a little-endian host
  const auto protocol = attribute_number<std::uint16_t>(vlan.nest(), IFLA_VLAN_PROTOCOL);
  if (protocol) {
    const bool service = *protocol == kServiceTag || *protocol == 0x88A8;
    vlan.add("protocol", std::string(service ? "802.1ad" : "802.1Q"));
  }
}

void parse_vxlan(Details& vxlan) {
  vxlan.number<std::uint32_t>("id", IFLA_VXLAN_ID);
  vxlan.number<std::uint32_t>("lower_index", IFLA_VXLAN_LINK);
  vxlan.add("over_ipv6", vxlan.has(IFLA_VXLAN_GROUP6) || vxlan.has(IFLA_VXLAN_LOCAL6));
}

void parse_geneve(Details& geneve) {
  geneve.number<std::uint32_t>("id", IFLA_GENEVE_ID);
  geneve.add("over_ipv6", geneve.has(IFLA_GENEVE_REMOTE6));
}

void parse_gre(Details& gre) { gre.number<std::uint32_t>("lower_index", IFLA_GRE_LINK); }
void parse_ip_tunnel(Details& tunnel) {
  tunnel.number<std::uint32_t>("lower_index", IFLA_IPTUN_LINK);
}

void parse_bridge(Details& bridge) {
  bridge.add("stp",
             attribute_number<std::uint32_t>(bridge.nest(), IFLA_BR_STP_STATE).value_or(0) != 0);
  bridge.flag("vlan_filtering", IFLA_BR_VLAN_FILTERING);
}

void parse_bond_member(Details& member) {
  member.choice("state", IFLA_BOND_SLAVE_STATE, kMemberStates);
  const auto mii = attribute_number<std::uint8_t>(member.nest(), IFLA_BOND_SLAVE_MII_STATUS);
  if (mii) {
    member.add("mii_up", *mii == 0);  // BOND_LINK_UP
  }
  member.number<std::uint32_t>("link_failures", IFLA_BOND_SLAVE_LINK_FAILURE_COUNT);
  member.mac("permanent_mac", IFLA_BOND_SLAVE_PERM_HWADDR);
  member.number<std::uint16_t>("aggregator_id", IFLA_BOND_SLAVE_AD_AGGREGATOR_ID);
}

struct KindParser {
  std::string_view kind;
  void (*parse)(Details&);
};

constexpr std::array kKinds{
    KindParser{"bond", parse_bond},        KindParser{"vlan", parse_vlan},
    KindParser{"vxlan", parse_vxlan},      KindParser{"geneve", parse_geneve},
    KindParser{"gre", parse_gre},          KindParser{"gretap", parse_gre},
    KindParser{"ip6gre", parse_gre},       KindParser{"ip6gretap", parse_gre},
    KindParser{"ipip", parse_ip_tunnel},   KindParser{"sit", parse_ip_tunnel},
    KindParser{"ip6tnl", parse_ip_tunnel}, KindParser{"bridge", parse_bridge},
};
constexpr std::array kMemberKinds{KindParser{"bond", parse_bond_member}};

template <std::size_t N>
NamedValues parse_details(const std::array<KindParser, N>& parsers, std::string_view kind,
                          ByteSpan nest) {
  const auto parser = std::ranges::find(parsers, kind, &KindParser::kind);
  Details details(nest);
  if (parser != parsers.end() && !nest.empty()) {
    parser->parse(details);
  }
  return details.take();
}

void parse_kind(ByteSpan attributes, LinkInfo& link) {
  const ByteSpan info = find_attribute(attributes, IFLA_LINKINFO);
  link.kind = attribute_string(info, IFLA_INFO_KIND);
  link.details = parse_details(kKinds, link.kind, find_attribute(info, IFLA_INFO_DATA));
  link.member_details = parse_details(kMemberKinds, attribute_string(info, IFLA_INFO_SLAVE_KIND),
                                      find_attribute(info, IFLA_INFO_SLAVE_DATA));
}

}  // namespace

LinkInfo parse_link(ByteSpan body) {
  const auto header = header_of<ifinfomsg>(body);
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  const auto number = [&](std::uint16_t type) {
    return attribute_u32(attributes, type).value_or(0);
  };
  LinkInfo link;
  link.name = attribute_string(attributes, IFLA_IFNAME);
  link.index = header.ifi_index;
  link.mtu_bytes = number(IFLA_MTU);
  link.min_mtu_bytes = number(IFLA_MIN_MTU);
  link.max_mtu_bytes = number(IFLA_MAX_MTU);
  link.admin_up = (header.ifi_flags & IFF_UP) != 0;
  link.loopback = (header.ifi_flags & IFF_LOOPBACK) != 0;
  if (const ByteSpan carrier = find_attribute(attributes, IFLA_CARRIER); !carrier.empty()) {
    link.carrier = carrier[0] != 0;
  }
  parse_kind(attributes, link);
  link.qdisc = attribute_string(attributes, IFLA_QDISC);
  link.hardware_address = hardware_text(find_attribute(attributes, IFLA_ADDRESS));
  const bool elsewhere = !find_attribute(attributes, IFLA_LINK_NETNSID).empty();
  const auto underlay = number(IFLA_LINK);
  link.lower_index = elsewhere      ? 0
                     : underlay > 0 ? static_cast<int>(underlay)
                                    : static_cast<int>(integer_of(link.details, "lower_index"));
  link.master_index = static_cast<int>(number(IFLA_MASTER));
  link.statistics = parse_statistics(find_attribute(attributes, IFLA_STATS64));
  link.queue_packets = number(IFLA_TXQLEN);
  link.carrier_changes = attribute_number<std::uint32_t>(attributes, IFLA_CARRIER_CHANGES);
  if (link.carrier_changes) {
    link.statistics.emplace_back("carrier_changes", *link.carrier_changes);
  }
  link.bus_address = attribute_string(attributes, IFLA_PARENT_DEV_NAME);
  link.xdp = attribute_number<std::uint8_t>(find_attribute(attributes, IFLA_XDP), IFLA_XDP_ATTACHED)
                 .value_or(XDP_ATTACHED_NONE) != XDP_ATTACHED_NONE;
  return link;
}

const Value* find_value(const NamedValues& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &NamedValues::value_type::first);
  return found == values.end() ? nullptr : &found->second;
}

std::int64_t integer_of(const NamedValues& values, std::string_view name) {
  const Value* value = find_value(values, name);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number == nullptr ? 0 : *number;
}

}  // namespace netbench::facts
