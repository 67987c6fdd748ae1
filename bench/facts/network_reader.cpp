#include "bench/facts/network_reader.hpp"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "bench/facts/addresses.hpp"
#include "bench/facts/ethtool_reader.hpp"
#include "bench/facts/rtnetlink.hpp"

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

std::string hardware_address(ByteSpan raw) {
  std::string text;
  for (const auto byte : raw) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  }
  return text;
}

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
  link.kind = attribute_string(find_attribute(attributes, IFLA_LINKINFO), IFLA_INFO_KIND);
  link.qdisc = attribute_string(attributes, IFLA_QDISC);
  link.hardware_address = hardware_address(find_attribute(attributes, IFLA_ADDRESS));
  const bool elsewhere = !find_attribute(attributes, IFLA_LINK_NETNSID).empty();
  link.lower_index = elsewhere ? 0 : static_cast<int>(number(IFLA_LINK));
  link.master_index = static_cast<int>(number(IFLA_MASTER));
  link.statistics = parse_statistics(find_attribute(attributes, IFLA_STATS64));
  return link;
}

InterfaceAddress parse_address(ByteSpan body) {
  const auto header = header_of<ifaddrmsg>(body);
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  const ByteSpan local = find_attribute(attributes, IFA_LOCAL);
  InterfaceAddress address;
  address.interface_index = static_cast<int>(header.ifa_index);
  address.address = ip_text(local.empty() ? find_attribute(attributes, IFA_ADDRESS) : local);
  address.prefix_length = header.ifa_prefixlen;
  address.ipv6 = header.ifa_family == AF_INET6;
  return address;
}

class KernelNetwork final : public NetworkReader {
 public:
  KernelNetwork(RtNetlink netlink, UniqueFd ioctl_socket)
      : netlink_(std::move(netlink)), ioctl_socket_(std::move(ioctl_socket)) {}

  Result<RouteInfo> route_to(const std::string& peer, const std::string& local) override;
  Result<std::vector<LinkInfo>> links() override;
  Result<LinkInfo> link(const std::string& name) override;
  Result<std::vector<InterfaceAddress>> addresses() override;
  std::vector<Fact> ethtool_facts(const std::string& name) override {
    return read_ethtool_facts(ioctl_socket_.get(), name);
  }
  NamedCounts ethtool_statistics(const std::string& name) override {
    return read_ethtool_statistics(ioctl_socket_.get(), name);
  }

 private:
  RouteInfo parse_route(ByteSpan body);

  RtNetlink netlink_;
  UniqueFd ioctl_socket_;
};

RouteInfo KernelNetwork::parse_route(ByteSpan body) {
  const ByteSpan attributes = attributes_after(body, sizeof(rtmsg));
  RouteInfo route;
  route.interface_index = static_cast<int>(attribute_u32(attributes, RTA_OIF).value_or(0));
  route.source_address = ip_text(find_attribute(attributes, RTA_PREFSRC));
  route.gateway = ip_text(find_attribute(attributes, RTA_GATEWAY));
  if (const ByteSpan via = find_attribute(attributes, RTA_VIA); via.size() > sizeof(rtvia)) {
    route.gateway = ip_text(via.subspan(sizeof(rtvia)));
  }
  route.mtu_bytes = attribute_u32(find_attribute(attributes, RTA_METRICS), RTAX_MTU).value_or(0);
  const auto all = links();
  for (const auto& candidate : all ? *all : std::vector<LinkInfo>{}) {
    if (candidate.index == route.interface_index) {
      route.interface = candidate.name;
    }
  }
  return route;
}

Result<RouteInfo> KernelNetwork::route_to(const std::string& peer, const std::string& local) {
  const auto destination = parse_ip(peer);
  if (!destination) {
    return tl::unexpected(destination.error());
  }
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(destination->family);
  header.rtm_dst_len = static_cast<unsigned char>(destination->raw().size() * 8);
  std::vector<std::uint8_t> body;
  append_header(body, header);
  append_attribute(body, RTA_DST, destination->raw());
  if (const auto source = parse_ip(local); source && source->family == destination->family) {
    append_attribute(body, RTA_SRC, source->raw());
  }
  if (destination->scope_index != 0) {
    append_attribute(body, RTA_OIF, static_cast<std::uint32_t>(destination->scope_index));
  }
  const auto reply = netlink_.talk(RTM_GETROUTE, 0, body);
  if (reply.error_number != 0 || reply.messages.empty()) {
    return fail_errno("route-lookup", fmt::format("no route to {}", peer),
                      reply.error_number == 0 ? EPROTO : reply.error_number);
  }
  return parse_route(reply.messages.front().body);
}

Result<std::vector<LinkInfo>> KernelNetwork::links() {
  std::vector<std::uint8_t> body;
  append_header(body, ifinfomsg{});
  const auto reply = netlink_.talk(RTM_GETLINK, NLM_F_DUMP, body);
  if (reply.error_number != 0) {
    return fail_errno("netlink", "cannot list the interfaces", reply.error_number);
  }
  std::vector<LinkInfo> links;
  for (const auto& message : reply.messages) {
    links.push_back(parse_link(message.body));
  }
  return links;
}

Result<LinkInfo> KernelNetwork::link(const std::string& name) {
  std::vector<std::uint8_t> body;
  append_header(body, ifinfomsg{});
  append_attribute(body, IFLA_IFNAME, name.substr(0, IFNAMSIZ - 1));
  const auto reply = netlink_.talk(RTM_GETLINK, 0, body);
  if (reply.error_number != 0 || reply.messages.empty()) {
    return fail_errno("interface-unknown", fmt::format("cannot look at interface {}", name),
                      reply.error_number == 0 ? EPROTO : reply.error_number);
  }
  return parse_link(reply.messages.front().body);
}

Result<std::vector<InterfaceAddress>> KernelNetwork::addresses() {
  std::vector<std::uint8_t> body;
  append_header(body, ifaddrmsg{});
  const auto reply = netlink_.talk(RTM_GETADDR, NLM_F_DUMP, body);
  if (reply.error_number != 0) {
    return fail_errno("netlink", "cannot list the addresses", reply.error_number);
  }
  std::vector<InterfaceAddress> addresses;
  for (const auto& message : reply.messages) {
    addresses.push_back(parse_address(message.body));
  }
  return addresses;
}

}  // namespace

Result<std::unique_ptr<NetworkReader>> open_kernel_network() {
  auto netlink = RtNetlink::open();
  if (!netlink) {
    return tl::unexpected(netlink.error());
  }
  UniqueFd ioctl_socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!ioctl_socket.valid()) {
    return fail_errno("netlink", "cannot open a socket for ioctls", errno);
  }
  return std::make_unique<KernelNetwork>(std::move(*netlink), std::move(ioctl_socket));
}

}  // namespace netbench::facts
