#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "bench/facts/addresses.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/path_mtu.hpp"
#include "bench/facts/path_probe_wire.hpp"
#include "bench/facts/path_prober.hpp"
#include "bench/facts/path_search.hpp"

namespace netbench::facts {

namespace {

constexpr std::int64_t kLargestPacket = 65535;

sockaddr_storage socket_address(const IpAddress& ip, in_port_t network_port, socklen_t& bytes) {
  sockaddr_storage storage{};
  if (ip.family == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = network_port;
    std::memcpy(&v4.sin_addr, ip.bytes.data(), sizeof(v4.sin_addr));
    std::memcpy(&storage, &v4, sizeof(v4));
    bytes = sizeof(v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = network_port;
    v6.sin6_scope_id = static_cast<std::uint32_t>(ip.scope_index);
    std::memcpy(&v6.sin6_addr, ip.bytes.data(), sizeof(v6.sin6_addr));
    std::memcpy(&storage, &v6, sizeof(v6));
    bytes = sizeof(v6);
  }
  return storage;
}

Result<UniqueFd> open_probe_socket(const ProbeTarget& target, const IpAddress& peer) {
  UniqueFd socket(::socket(peer.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) {
    return fail_errno("probe-socket", "cannot open a UDP socket for path probing", errno);
  }
  if (auto prepared = prepare_probe_socket(socket.get()); !prepared) {
    return tl::unexpected(prepared.error());
  }
  socklen_t bytes = 0;
  if (const auto local = parse_ip(target.local_address); local && local->family == peer.family) {
    const auto source = socket_address(*local, 0, bytes);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&source), bytes) != 0) {
      return fail_errno("probe-socket", fmt::format("cannot bind {}", target.local_address), errno);
    }
  }
  // sin_port and sin6_port lie at the same place.
  const auto port = reinterpret_cast<const sockaddr_in*>(&target.address)->sin_port;
  const auto address = socket_address(peer, port, bytes);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    return fail_errno("probe-socket", fmt::format("no way to {}", to_text(peer)), errno);
  }
  return socket;
}

std::int64_t interface_mtu_towards(const IpAddress& peer, const std::string& local) {
  auto network = open_kernel_network();
  if (!network) {
    return 0;
  }
  const auto route = (*network)->route_to(to_text(peer), local);
  const auto link =
      route ? (*network)->link(route->interface) : Result<LinkInfo>(tl::unexpected(route.error()));
  return link ? link->mtu_bytes : 0;
}

std::string describe(std::string_view towards, const PathSearch& search, std::int64_t both_take,
                     bool& black_hole) {
  const auto largest = search.largest_bytes();
  if (!search.finished()) {
    return fmt::format("{}: at least {} bytes, time was up", towards, largest);
  }
  if (largest >= search.ceiling_bytes()) {
    return {};
  }
  if (largest >= both_take) {
    return fmt::format("{}: {} bytes, the MTU of the receiver's interface", towards, largest);
  }
  if (search.icmp_mtu_bytes() != 0) {
    return fmt::format("{}: {} bytes, ICMP names {}", towards, largest, search.icmp_mtu_bytes());
  }
  if (largest == 0) {  // smaller ones passed a moment ago: an overloaded host, not an MTU
    return fmt::format("{}: no probe was answered", towards);
  }
  black_hole = true;
  return fmt::format("{}: packets over {} bytes vanish and no ICMP message says so", towards,
                     largest);
}

PathMtu conclude(const Way& forward, const Way& reverse) {
  PathMtu result;
  result.method = kMethodUdp;
  result.forward_bytes = forward.search.largest_bytes();
  result.reverse_bytes = reverse.search.largest_bytes();
  const auto both_take = std::min(forward.search.ceiling_bytes(), reverse.search.ceiling_bytes());
  const auto there = describe("towards the peer", forward.search, both_take, result.black_hole);
  const auto back = describe("from the peer", reverse.search, both_take, result.black_hole);
  result.note = there + (there.empty() || back.empty() ? "" : "; ") + back;
  return result;
}

std::int64_t ceiling_of(std::int64_t interface_mtu, std::int64_t otherwise) {
  return std::min(interface_mtu > 0 ? interface_mtu : otherwise, kLargestPacket);
}

}  // namespace

Result<PathMtu> probe_path(const ProbeTarget& target, const ProbeToken& token, Deadline deadline) {
  constexpr std::int64_t kSmallestIpv4 = 576;   // every host takes it: RFC 1122, section 3.3.2
  constexpr std::int64_t kSmallestIpv6 = 1280;  // RFC 8200, section 5
  constexpr std::int64_t kWhenUnknown = 9000;
  const IpAddress peer = ip_of(target.address);
  auto socket = open_probe_socket(target, peer);
  if (!socket) {
    return tl::unexpected(socket.error());
  }
  const bool ipv6 = peer.family == AF_INET6;
  Prober prober(std::move(*socket), token, ipv6, deadline);
  const auto remote_mtu = prober.greet();
  if (!remote_mtu) {
    PathMtu none;
    none.method = kMethodUdpFiltered;
    none.note = prober.refused() ? "the peer's host refuses UDP on this port"
                                 : "no answer to UDP on this port";
    return none;
  }
  const auto local_ceiling =
      ceiling_of(interface_mtu_towards(peer, target.local_address), kWhenUnknown);
  const auto remote_ceiling = ceiling_of(*remote_mtu, local_ceiling);
  const auto floor =
      std::min({ipv6 ? kSmallestIpv6 : kSmallestIpv4, local_ceiling, remote_ceiling});
  std::vector<Way> ways{{ProbeType::probe, ProbeType::probe_ack, PathSearch(floor, local_ceiling)},
                        {ProbeType::request, ProbeType::data, PathSearch(floor, remote_ceiling)}};
  prober.search(ways);
  return conclude(ways[0], ways[1]);
}

}  // namespace netbench::facts
