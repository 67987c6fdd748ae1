#include "bench/facts/network_reader.hpp"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "bench/facts/addresses.hpp"
#include "bench/facts/cable_test.hpp"
#include "bench/facts/discipline.hpp"
#include "bench/facts/ethtool_netlink.hpp"
#include "bench/facts/ethtool_reader.hpp"
#include "bench/facts/firewall_reader.hpp"
#include "bench/facts/legacy_firewall.hpp"
#include "bench/facts/link_parser.hpp"
#include "bench/facts/lldp_socket.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

namespace {

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

// NUD_* of linux/neighbour.h, one bit each.
constexpr std::array<std::pair<std::uint16_t, const char*>, 8> kNeighbourStates{
    {{NUD_INCOMPLETE, "incomplete"},
     {NUD_REACHABLE, "reachable"},
     {NUD_STALE, "stale"},
     {NUD_DELAY, "delay"},
     {NUD_PROBE, "probe"},
     {NUD_FAILED, "failed"},
     {NUD_NOARP, "noarp"},
     {NUD_PERMANENT, "permanent"}}};

NeighbourInfo parse_neighbour(ByteSpan body) {
  const auto header = header_of<ndmsg>(body);
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  NeighbourInfo neighbour;
  neighbour.interface_index = header.ndm_ifindex;
  neighbour.address = ip_text(find_attribute(attributes, NDA_DST));
  for (const auto& [bit, name] : kNeighbourStates) {
    if ((header.ndm_state & bit) != 0) {
      neighbour.state = name;
    }
  }
  neighbour.hardware_address = hardware_text(find_attribute(attributes, NDA_LLADDR));
  return neighbour;
}

tl::unexpected<Error> not_recorded() {
  return fail("not-recorded", "the kernel's answer is not in this recording");
}

class KernelNetwork final : public NetworkReader {
 public:
  KernelNetwork(RtNetlink netlink, UniqueFd ioctl_socket)
      : netlink_(std::move(netlink)), ioctl_socket_(std::move(ioctl_socket)) {}

  Result<RouteInfo> route_to(const std::string& peer, const std::string& local) override;
  Result<std::vector<LinkInfo>> links() override;
  Result<LinkInfo> link(const std::string& name) override;
  Result<std::vector<InterfaceAddress>> addresses() override;
  std::vector<Fact> ethtool_facts(const std::string& name) override;
  NamedCounts ethtool_statistics(const std::string& name) override {
    return read_ethtool_statistics(ioctl_socket_.get(), name);
  }
  Result<std::vector<DisciplineInfo>> disciplines(const LinkInfo& link) override;
  Result<std::vector<NeighbourInfo>> neighbours() override;
  Result<std::vector<FirewallChain>> firewall() override { return read_firewall(); }
  Result<std::vector<FirewallChain>> legacy_firewall() override { return read_legacy_firewall(); }
  Result<ModuleMemory> module_memory(const std::string& name) override;
  Result<std::vector<Fact>> test_cable(const std::string& name, Nanoseconds limit) override;
  Result<std::vector<LldpFrame>> lldp_frames(const std::vector<std::string>& names,
                                             Nanoseconds limit) override {
    return listen_for_lldp(names, limit);
  }

 private:
  RouteInfo parse_route(ByteSpan body);
  EthtoolNetlink* ethtool();

  RtNetlink netlink_;
  UniqueFd ioctl_socket_;
  std::optional<Result<EthtoolNetlink>> ethtool_;  // opened when first asked
};

EthtoolNetlink* KernelNetwork::ethtool() {
  if (!ethtool_) {
    ethtool_ = EthtoolNetlink::open();
  }
  return *ethtool_ ? &**ethtool_ : nullptr;
}

std::vector<Fact> KernelNetwork::ethtool_facts(const std::string& name) {
  auto facts = read_ethtool_facts(ioctl_socket_.get(), name);
  if (ethtool() != nullptr) {
    std::ranges::move(ethtool()->link_state(name), std::back_inserter(facts));
  }
  return facts;
}

Result<ModuleMemory> KernelNetwork::module_memory(const std::string& name) {
  return ethtool() != nullptr ? ethtool()->module_memory(name)
                              : Result<ModuleMemory>(tl::unexpected(ethtool_->error()));
}

Result<std::vector<Fact>> KernelNetwork::test_cable(const std::string& name, Nanoseconds limit) {
  if (ethtool() == nullptr) {
    return tl::unexpected(ethtool_->error());
  }
  return ethtool()->test_cable(name, limit).map(cable_facts);
}

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

// The classes of htb hold the rates that its root does not.
Result<std::vector<DisciplineInfo>> KernelNetwork::disciplines(const LinkInfo& link) {
  std::vector<DisciplineInfo> found;
  for (const std::uint16_t request : {RTM_GETQDISC, RTM_GETTCLASS}) {
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = link.index;
    std::vector<std::uint8_t> body;
    append_header(body, header);
    const auto reply = netlink_.talk(request, NLM_F_DUMP, body);
    if (reply.error_number != 0 && request == RTM_GETQDISC) {
      return fail_errno("netlink", "cannot list the queueing disciplines", reply.error_number);
    }
    for (const auto& message : reply.messages) {
      const bool ours = discipline_interface(message.body) == link.index;
      auto discipline = parse_discipline(message.body);
      if (ours && (request == RTM_GETQDISC || !discipline.parameters.empty())) {
        found.push_back(std::move(discipline));
      }
    }
  }
  return found;
}

Result<std::vector<NeighbourInfo>> KernelNetwork::neighbours() {
  std::vector<std::uint8_t> body;
  append_header(body, ndmsg{});
  const auto reply = netlink_.talk(RTM_GETNEIGH, NLM_F_DUMP, body);
  if (reply.error_number != 0) {
    return fail_errno("netlink", "cannot list the neighbours", reply.error_number);
  }
  std::vector<NeighbourInfo> found;
  for (const auto& message : reply.messages) {
    found.push_back(parse_neighbour(message.body));
  }
  return found;
}

}  // namespace

Result<std::vector<DisciplineInfo>> NetworkReader::disciplines(const LinkInfo& /*link*/) {
  return not_recorded();
}
Result<std::vector<NeighbourInfo>> NetworkReader::neighbours() { return not_recorded(); }
Result<std::vector<FirewallChain>> NetworkReader::firewall() { return not_recorded(); }
Result<std::vector<FirewallChain>> NetworkReader::legacy_firewall() { return not_recorded(); }
Result<ModuleMemory> NetworkReader::module_memory(const std::string& /*name*/) {
  return not_recorded();
}
Result<std::vector<Fact>> NetworkReader::test_cable(const std::string& /*name*/,
                                                    Nanoseconds /*limit*/) {
  return not_recorded();
}
Result<std::vector<LldpFrame>> NetworkReader::lldp_frames(const std::vector<std::string>& /*names*/,
                                                          Nanoseconds /*limit*/) {
  return not_recorded();
}

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
