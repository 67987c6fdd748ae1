#include "bench/facts/device_stack.hpp"

#include <algorithm>
#include <array>

#include "bench/facts/link_parser.hpp"

namespace netbench::facts {

namespace {

constexpr std::size_t kMostDevices = 32;
constexpr std::array<std::string_view, 3> kMasters{"bond", "bridge", "team"};

struct Tunnel {
  std::string_view kind;
  std::int64_t overhead_bytes;  // with an outer header of IPv4
};

constexpr std::int64_t kInnerEthernet = 14;
constexpr std::int64_t kIpv4 = 20;
constexpr std::int64_t kIpv6Extra = 20;
constexpr std::int64_t kUdp = 8;
constexpr std::array kTunnels{
    Tunnel{"vxlan", kInnerEthernet + kIpv4 + kUdp + 8},
    Tunnel{"geneve", kInnerEthernet + kIpv4 + kUdp + 8},
    Tunnel{"gre", kIpv4 + 4},
    Tunnel{"gretap", kInnerEthernet + kIpv4 + 4},
    Tunnel{"ip6gre", kIpv4 + kIpv6Extra + 4},
    Tunnel{"ip6gretap", kInnerEthernet + kIpv4 + kIpv6Extra + 4},
    Tunnel{"ipip", kIpv4},
    Tunnel{"sit", kIpv4},
    Tunnel{"ip6tnl", kIpv4 + kIpv6Extra},
    Tunnel{"wireguard", kIpv4 + kUdp + 32},
};

}  // namespace

std::vector<LinkInfo> devices_below(const LinkInfo& link, const std::vector<LinkInfo>& all) {
  const bool master = std::ranges::find(kMasters, link.kind) != kMasters.end();
  // Of a bridge, the ports of containers and virtual machines are no way to the wire.
  const auto is_guest = [&](const LinkInfo& other) {
    return link.kind == "bridge" && (other.kind == "veth" || other.kind == "tun");
  };
  std::vector<LinkInfo> below;
  std::ranges::copy_if(all, std::back_inserter(below), [&](const LinkInfo& other) {
    const bool underlay = link.kind != "veth" && link.lower_index == other.index;
    const bool member = master && other.master_index == link.index && !is_guest(other);
    return other.index != link.index && (underlay || member);
  });
  return below;
}

std::vector<StackedLink> device_stack(const LinkInfo& top, const std::vector<LinkInfo>& all) {
  std::vector<StackedLink> stack{{top, 0}};
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const StackedLink upper = stack[i];
    for (auto& lower : devices_below(upper.link, all)) {
      const bool seen = std::ranges::any_of(
          stack, [&](const StackedLink& known) { return known.link.index == lower.index; });
      if (!seen && stack.size() < kMostDevices) {
        stack.push_back({std::move(lower), upper.level + 1});
      }
    }
  }
  return stack;
}

std::string stack_text(const std::vector<StackedLink>& stack) {
  std::string text;
  int level = 0;
  for (const auto& device : stack) {
    text += text.empty() ? "" : device.level == level ? "," : " > ";
    text += device.link.name;
    level = device.level;
  }
  return text;
}

std::int64_t tunnel_overhead_bytes(const std::vector<StackedLink>& stack) {
  std::int64_t bytes = 0;
  for (const auto& device : stack) {
    const auto tunnel = std::ranges::find(kTunnels, device.link.kind, &Tunnel::kind);
    if (tunnel == kTunnels.end()) {
      continue;
    }
    const Value* over_ipv6 = find_value(device.link.details, "over_ipv6");
    bytes += tunnel->overhead_bytes +
             (over_ipv6 != nullptr && *over_ipv6 == Value(true) ? kIpv6Extra : 0);
  }
  return bytes;
}

}  // namespace netbench::facts
