#include "bench/facts/path_probe_wire.hpp"

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace netbench::facts {

namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'N', 'B', 'P', '1'};
constexpr std::size_t kTypeAt = 4;
constexpr std::size_t kTokenAt = 8;
constexpr std::size_t kValueAt = 24;
constexpr std::size_t kExtraAt = 28;

void put_u32(std::uint8_t* at, std::uint32_t value) {
  const std::uint32_t ordered = htonl(value);
  std::memcpy(at, &ordered, sizeof(ordered));
}

std::uint32_t get_u32(const std::uint8_t* at) {
  std::uint32_t ordered = 0;
  std::memcpy(&ordered, at, sizeof(ordered));
  return ntohl(ordered);
}

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof(value)) == 0;
}

void take_error(const sock_extended_err& error, IcmpReport& report) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6) {
    report.mtu_bytes = error.ee_errno == EMSGSIZE ? error.ee_info : 0;
    report.port_unreachable = error.ee_errno == ECONNREFUSED;
  }
}

}  // namespace

std::vector<std::uint8_t> encode(const ProbeMessage& message, std::size_t datagram_bytes) {
  std::vector<std::uint8_t> bytes(std::max(datagram_bytes, kProbeMessageBytes));
  std::ranges::copy(kMagic, bytes.begin());
  bytes[kTypeAt] = static_cast<std::uint8_t>(message.type);
  std::ranges::copy(message.token, bytes.begin() + kTokenAt);
  put_u32(bytes.data() + kValueAt, message.value);
  put_u32(bytes.data() + kExtraAt, message.extra);
  return bytes;
}

std::optional<ProbeMessage> decode_probe(std::span<const std::uint8_t> datagram) {
  if (datagram.size() < kProbeMessageBytes ||
      !std::ranges::equal(kMagic, datagram.first(kMagic.size()))) {
    return std::nullopt;
  }
  const std::uint8_t type = datagram[kTypeAt];
  if (type < static_cast<std::uint8_t>(ProbeType::hello) ||
      type > static_cast<std::uint8_t>(ProbeType::request_ack)) {
    return std::nullopt;
  }
  ProbeMessage message;
  message.type = static_cast<ProbeType>(type);
  std::ranges::copy(datagram.subspan(kTokenAt, message.token.size()), message.token.begin());
  message.value = get_u32(datagram.data() + kValueAt);
  message.extra = get_u32(datagram.data() + kExtraAt);
  return message;
}

Status prepare_probe_socket(int socket) {
  constexpr int kReceiveBufferBytes = 1 << 20;
  set_option(socket, SOL_SOCKET, SO_RCVBUF, kReceiveBufferBytes);  // as much as rmem_max gives
  int domain = 0;
  socklen_t length = sizeof(domain);
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length);
  // A dual-stack socket takes the IPv4 options as well, for v4-mapped peers.
  bool ok = set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) &&
            set_option(socket, IPPROTO_IP, IP_RECVERR, 1);
  if (domain == AF_INET6) {
    ok = ok && set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) &&
         set_option(socket, IPPROTO_IPV6, IPV6_DONTFRAG, 1) &&
         set_option(socket, IPPROTO_IPV6, IPV6_RECVERR, 1);
  }
  if (!ok) {
    return fail_errno("probe-socket", "cannot prepare a UDP socket for path probing", errno);
  }
  return {};
}

std::optional<IcmpReport> take_icmp_report(int socket) {
  IcmpReport report;
  std::array<std::uint8_t, kProbeMessageBytes> quoted{};
  alignas(cmsghdr) std::array<char, 512> control{};
  iovec piece{quoted.data(), quoted.size()};
  msghdr message{};
  message.msg_name = &report.destination;
  message.msg_namelen = sizeof(report.destination);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
    return std::nullopt;
  }
  for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    const bool is_error = (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR) ||
                          (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR);
    if (is_error) {
      sock_extended_err error{};
      std::memcpy(&error, CMSG_DATA(part), sizeof(error));
      take_error(error, report);
    }
  }
  return report;
}

}  // namespace netbench::facts
