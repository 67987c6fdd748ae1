#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "bench/facts/interface_state.hpp"
#include "bench/facts/lifeline.hpp"
#include "bench/facts/mtu_knob.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr std::int64_t kSmallestIpv4Mtu = 68;    // RFC 791
constexpr std::int64_t kSmallestIpv6Mtu = 1280;  // RFC 8200
constexpr std::int64_t kLargestMtu = 65536;      // what lo has

Status check_range(const LinkInfo& link, std::int64_t mtu_bytes) {
  const auto low = std::max(link.min_mtu_bytes, kSmallestIpv4Mtu);
  const auto high = link.max_mtu_bytes > 0 ? link.max_mtu_bytes : kLargestMtu;
  if (mtu_bytes < low || mtu_bytes > high) {
    return fail("mtu-range",
                fmt::format("MTU {} on {}: the interface takes {} to {} bytes", mtu_bytes,
                            link.name, low, high),
                fmt::format("Choose a value from {} to {}.", low, high), ExitClass::usage);
  }
  return {};
}

Status check_ipv6(const LinkInfo& link, std::int64_t mtu_bytes, NetworkReader& network) {
  const auto addresses = network.addresses();
  if (!addresses) {
    return tl::unexpected(addresses.error());
  }
  const bool has_ipv6 = std::ranges::any_of(*addresses, [&](const InterfaceAddress& address) {
    return address.ipv6 && address.interface_index == link.index;
  });
  if (has_ipv6 && mtu_bytes < kSmallestIpv6Mtu) {
    return fail("mtu-ipv6",
                fmt::format("MTU {} on {}: IPv6 is configured there and needs at least {} bytes; "
                            "the kernel would delete its addresses",
                            mtu_bytes, link.name, kSmallestIpv6Mtu),
                fmt::format("Choose {} or more, or switch IPv6 off first: sysctl -w "
                            "net.ipv6.conf.{}.disable_ipv6=1",
                            kSmallestIpv6Mtu, link.name),
                ExitClass::usage);
  }
  return {};
}

// Setting the MTU that is there already changes nothing and is refused like any other change.
Status check_permission(const LinkInfo& link, RtNetlink& netlink) {
  const int error = set_link_mtu(netlink, link.index, link.mtu_bytes);
  if (error == EPERM || error == EACCES) {
    return fail("knob-permission",
                fmt::format("changing the MTU of {} needs CAP_NET_ADMIN", link.name),
                "Start the agent as root, or: setcap cap_net_admin+ep <netbench>");
  }
  return {};
}

}  // namespace

Status check_mtu_change(const std::string& interface, std::int64_t mtu_bytes,
                        const KnobPolicy& policy) {
  auto network = open_kernel_network();
  auto netlink = RtNetlink::open();
  if (!network || !netlink) {
    return tl::unexpected(!network ? network.error() : netlink.error());
  }
  const auto link = (*network)->link(interface);
  if (!link) {
    return tl::unexpected(link.error());
  }
  if (!policy.allowed) {
    return fail("knob-not-allowed",
                fmt::format("changing the MTU of {} is not allowed here", interface),
                "Start the agent with --allow-knobs.");
  }
  return check_range(*link, mtu_bytes)
      .and_then([&] { return check_ipv6(*link, mtu_bytes, **network); })
      .and_then([&] {
        return policy.forced ? Status{}
                             : check_lifeline(*link, {policy.ssh_connection, {}},
                                              "its MTU is left alone", **network);
      })
      .and_then([&] { return check_permission(*link, *netlink); });
}

}  // namespace netbench::facts
