#include "bench/facts/interface_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "bench/core/clock.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

using Body = std::vector<std::uint8_t>;

std::string ipv6_mtu_path(const std::string& interface) {
  return fmt::format("/proc/sys/net/ipv6/conf/{}/mtu", interface);
}

std::optional<std::int64_t> read_ipv6_mtu(const std::string& interface) {
  const auto text = read_line_file("/", ipv6_mtu_path(interface));
  return text ? to_integer(*text) : std::nullopt;
}

std::vector<Body> dump(RtNetlink& netlink, std::uint16_t type, const Body& request,
                       const std::function<bool(ByteSpan)>& wanted) {
  std::vector<Body> bodies;
  for (auto& message : netlink.talk(type, NLM_F_DUMP, request).messages) {
    if (wanted(message.body)) {
      bodies.push_back(std::move(message.body));
    }
  }
  return bodies;
}

std::vector<Body> dump_addresses(RtNetlink& netlink, int index) {
  Body request;
  append_header(request, ifaddrmsg{});
  return dump(netlink, RTM_GETADDR, request, [index](ByteSpan body) {
    return static_cast<int>(header_of<ifaddrmsg>(body).ifa_index) == index;
  });
}

bool leads_through(ByteSpan attributes, int index) {
  if (attribute_u32(attributes, RTA_OIF) == static_cast<std::uint32_t>(index)) {
    return true;
  }
  ByteSpan hops = find_attribute(attributes, RTA_MULTIPATH);
  while (hops.size() >= sizeof(rtnexthop)) {
    const auto hop = header_of<rtnexthop>(hops);
    if (hop.rtnh_ifindex == index) {
      return true;
    }
    hops =
        hops.subspan(std::clamp<std::size_t>(RTNH_ALIGN(hop.rtnh_len), sizeof(hop), hops.size()));
  }
  return false;
}

// Routes to somewhere; the local, broadcast and multicast ones come with addresses by themselves.
std::vector<Body> dump_routes(RtNetlink& netlink, int index) {
  std::vector<Body> routes;
  for (const int family : {AF_INET, AF_INET6}) {
    rtmsg header{};
    header.rtm_family = static_cast<unsigned char>(family);
    Body request;
    append_header(request, header);
    auto some = dump(netlink, RTM_GETROUTE, request, [index](ByteSpan body) {
      const auto route = header_of<rtmsg>(body);
      return route.rtm_type == RTN_UNICAST && (route.rtm_flags & RTM_F_CLONED) == 0 &&
             leads_through(attributes_after(body, sizeof(rtmsg)), index);
    });
    std::ranges::move(some, std::back_inserter(routes));
  }
  return routes;
}

void append_value(Body& key, ByteSpan attributes, std::uint16_t type) {
  const ByteSpan value = find_attribute(attributes, type);
  key.push_back(static_cast<std::uint8_t>(value.size()));
  key.insert(key.end(), value.begin(), value.end());
}

// What makes an address or a route the same one, lifetimes and counters apart.
Body address_key(ByteSpan body) {
  const auto header = header_of<ifaddrmsg>(body);
  Body key{header.ifa_family, header.ifa_prefixlen};
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  append_value(key, attributes, IFA_LOCAL);
  append_value(key, attributes, IFA_ADDRESS);
  return key;
}

Body route_key(ByteSpan body) {
  const auto header = header_of<rtmsg>(body);
  Body key{header.rtm_family, header.rtm_dst_len, header.rtm_tos, header.rtm_table};
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  for (const std::uint16_t type : {RTA_DST, RTA_TABLE, RTA_PRIORITY, RTA_GATEWAY}) {
    append_value(key, attributes, type);
  }
  return key;
}

bool same_metrics(ByteSpan one, ByteSpan other) {
  const auto metrics = [](ByteSpan body) {
    return find_attribute(attributes_after(body, sizeof(rtmsg)), RTA_METRICS);
  };
  return std::ranges::equal(metrics(one), metrics(other));
}

// A dumped route as a request: the state flags of its next hop are no input, and the time left
// (RTA_CACHEINFO, in ticks) is given as RTA_EXPIRES in seconds.
Body as_request(Body body) {
  auto header = header_of<rtmsg>(body);
  header.rtm_flags &= RTNH_F_ONLINK;
  std::memcpy(body.data(), &header, sizeof(header));
  const ByteSpan cache = find_attribute(attributes_after(body, sizeof(header)), RTA_CACHEINFO);
  if (cache.size() >= sizeof(rta_cacheinfo)) {
    const auto expires = header_of<rta_cacheinfo>(cache).rta_expires;
    if (expires > 0) {
      append_attribute(body, RTA_EXPIRES,
                       static_cast<std::uint32_t>(expires / ::sysconf(_SC_CLK_TCK)));
    }
  }
  return body;
}

constexpr std::uint16_t kMake = NLM_F_ACK | NLM_F_CREATE;

int restore_addresses(RtNetlink& netlink, const InterfaceState& state) {
  std::vector<Body> present;
  for (const auto& body : dump_addresses(netlink, state.index)) {
    present.push_back(address_key(body));
  }
  int failures = 0;
  for (const auto& body : state.addresses) {
    if (std::ranges::find(present, address_key(body)) == present.end()) {
      const int error = netlink.talk(RTM_NEWADDR, kMake | NLM_F_REPLACE, body).error_number;
      failures += error != 0 && error != EEXIST ? 1 : 0;
    }
  }
  return failures;
}

// One pass over the routes; how many could not be given back yet.
int restore_routes_once(RtNetlink& netlink, const InterfaceState& state) {
  const auto present = dump_routes(netlink, state.index);
  int failures = 0;
  for (const auto& body : state.routes) {
    const auto found = std::ranges::find(present, route_key(body), route_key);
    if (found != present.end() && same_metrics(*found, body)) {
      continue;
    }
    const std::uint16_t replace = found == present.end() ? 0 : NLM_F_REPLACE;
    const auto flags = static_cast<std::uint16_t>(kMake | replace);
    const int error = netlink.talk(RTM_NEWROUTE, flags, as_request(body)).error_number;
    failures += error != 0 && error != EEXIST ? 1 : 0;
  }
  return failures;
}

// A route through a gateway needs the route to the gateway first: again while that helps.
int restore_routes(RtNetlink& netlink, const InterfaceState& state) {
  int failures = restore_routes_once(netlink, state);
  while (failures > 0) {
    const int now = restore_routes_once(netlink, state);
    if (now >= failures) {
      return now;
    }
    failures = now;
  }
  return 0;
}

bool restore_ipv6_mtu(const InterfaceState& state) {
  const auto now = read_ipv6_mtu(state.interface);
  if (!state.ipv6_mtu_bytes || now == state.ipv6_mtu_bytes) {
    return true;
  }
  const UniqueFd file(::open(ipv6_mtu_path(state.interface).c_str(), O_WRONLY | O_CLOEXEC));
  const auto text = std::to_string(*state.ipv6_mtu_bytes);
  return file.valid() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool restore_stacked(RtNetlink& netlink, NetworkReader& network, const StackedDevice& device) {
  const auto now = network.link(device.name);
  if (!now || now->index != device.index || now->mtu_bytes == device.mtu_bytes) {
    return true;  // gone or untouched
  }
  return set_link_mtu(netlink, device.index, device.mtu_bytes) == 0;
}

std::vector<StackedDevice> stacked_on(NetworkReader& network, const LinkInfo& link) {
  std::vector<StackedDevice> stacked;
  const auto all = network.links();
  for (const auto& other : all ? *all : std::vector<LinkInfo>{}) {
    const bool on_it = other.kind != "veth" && other.lower_index == link.index;
    const bool master = link.master_index != 0 && other.index == link.master_index;
    if (other.index != link.index && (on_it || master)) {
      stacked.push_back({other.name, other.index, other.mtu_bytes});
    }
  }
  return stacked;
}

}  // namespace

std::uint64_t current_network_namespace() {
  struct stat status {};
  return ::stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
}

std::string current_boot_id() {
  return read_line_file("/", "/proc/sys/kernel/random/boot_id").value_or("");
}

Result<InterfaceState> capture_interface(const std::string& interface) {
  auto network = open_kernel_network();
  auto netlink = RtNetlink::open();
  if (!network || !netlink) {
    return tl::unexpected(!network ? network.error() : netlink.error());
  }
  const auto link = (*network)->link(interface);
  if (!link) {
    return tl::unexpected(link.error());
  }
  InterfaceState state;
  state.boot_id = current_boot_id();
  state.network_namespace = current_network_namespace();
  state.interface = link->name;
  state.index = link->index;
  state.hardware_address = link->hardware_address;
  state.mtu_bytes = link->mtu_bytes;
  state.ipv6_mtu_bytes = read_ipv6_mtu(link->name);
  state.stacked = stacked_on(**network, *link);
  state.addresses = dump_addresses(*netlink, link->index);
  state.routes = dump_routes(*netlink, link->index);
  return state;
}

bool still_there(const InterfaceState& state) {
  auto network = open_kernel_network();
  const auto link = network ? (*network)->link(state.interface)
                            : Result<LinkInfo>(tl::unexpected(network.error()));
  return link && link->index == state.index && link->hardware_address == state.hardware_address;
}

int set_link_mtu(RtNetlink& netlink, int index, std::int64_t mtu_bytes) {
  ifinfomsg header{};
  header.ifi_index = index;
  Body body;
  append_header(body, header);
  append_attribute(body, IFLA_MTU, static_cast<std::uint32_t>(mtu_bytes));
  return netlink.talk(RTM_SETLINK, NLM_F_ACK, body).error_number;
}

bool wait_for_carrier(const std::string& interface) {
  constexpr std::chrono::seconds kPatience{5};
  constexpr std::chrono::milliseconds kPause{20};
  auto network = open_kernel_network();
  if (!network) {
    return false;
  }
  const auto deadline = Deadline::after(kPatience);
  while (true) {
    const auto link = (*network)->link(interface);
    if (link && link->carrier.value_or(true)) {
      return true;
    }
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
}

Status restore_interface(const InterfaceState& state) {
  auto network = open_kernel_network();
  auto netlink = RtNetlink::open();
  if (!network || !netlink) {
    return tl::unexpected(!network ? network.error() : netlink.error());
  }
  const auto link = (*network)->link(state.interface);
  const bool had_carrier = link && link->carrier.value_or(false);
  std::string failed;
  if (const int error = set_link_mtu(*netlink, state.index, state.mtu_bytes); error != 0) {
    failed += fmt::format(" MTU {} ({})", state.mtu_bytes, std::strerror(error));
  }
  if (had_carrier && !wait_for_carrier(state.interface)) {
    failed += " carrier (not back after 5 s)";
  }
  if (const int count = restore_addresses(*netlink, state); count > 0) {
    failed += fmt::format(" {} addresses", count);
  }
  if (!restore_ipv6_mtu(state)) {
    failed += " net.ipv6.conf mtu";
  }
  if (const int count = restore_routes(*netlink, state); count > 0) {
    failed += fmt::format(" {} routes", count);
  }
  for (const auto& device : state.stacked) {
    if (!restore_stacked(*netlink, **network, device)) {
      failed += fmt::format(" MTU of {}", device.name);
    }
  }
  if (!failed.empty()) {
    return fail(
        "knob-restore", fmt::format("could not restore on {}:{}", state.interface, failed),
        fmt::format("Set it by hand: ip link set {} mtu {}", state.interface, state.mtu_bytes));
  }
  return {};
}

}  // namespace netbench::facts
