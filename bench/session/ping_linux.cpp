#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "bench/core/unique_fd.hpp"
#include "bench/session/dial.hpp"
#include "bench/session/ping.hpp"

namespace netbench::session {

namespace {

constexpr std::size_t kEchoBytes = 16;  // header of 8 (RFC 792) and 8 of padding
using Packet = std::array<unsigned char, kEchoBytes>;

// One's complement sum (RFC 1071). Ping sockets and ICMPv6 leave it to the kernel; raw ICMP does
// not.
std::uint16_t checksum(const Packet& packet) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < packet.size(); i += 2) {
    sum += static_cast<std::uint32_t>(packet.at(i) << 8) + packet.at(i + 1);
  }
  sum = (sum >> 16) + (sum & 0xffff);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

Packet echo_request(bool six) {
  Packet packet{};
  packet[0] = six ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
  packet[7] = 1;  // sequence number
  const std::uint16_t sum = six ? 0 : checksum(packet);
  packet[2] = static_cast<unsigned char>(sum >> 8);
  packet[3] = static_cast<unsigned char>(sum & 0xff);
  return packet;
}

UniqueFd open_socket(bool six) {
  const int family = six ? AF_INET6 : AF_INET;
  const int protocol = six ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
  for (const int type : {SOCK_DGRAM, SOCK_RAW}) {
    UniqueFd fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    if (fd.valid()) {
      return fd;
    }
  }
  return {};
}

// A raw ICMP socket gets the IP header too, and whatever else comes from that host.
bool is_echo_reply(const unsigned char* data, std::size_t size, bool six) {
  const bool has_ip_header = !six && size > 0 && data[0] >> 4 == 4;
  const std::size_t skip = has_ip_header ? static_cast<std::size_t>(data[0] & 0xf) * 4 : 0;
  return size > skip && data[skip] == (six ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY);
}

bool take_reply(int fd, bool six) {
  std::array<unsigned char, 512> answer{};
  const ssize_t size = ::recv(fd, answer.data(), answer.size(), 0);
  return size > 0 && is_echo_reply(answer.data(), static_cast<std::size_t>(size), six);
}

}  // namespace

std::optional<bool> answers_ping(const SocketAddress& to, Nanoseconds limit) {
  const bool six = to.family() == AF_INET6;
  const UniqueFd fd = open_socket(six);
  SocketAddress host = to;
  std::memset(reinterpret_cast<char*>(&host.storage) + offsetof(sockaddr_in, sin_port), 0,
              sizeof(in_port_t));  // the same place in sockaddr_in6 (RFC 3493, section 3.3)
  if (!fd.valid() || ::connect(fd.get(), host.get(), host.size) != 0) {
    return std::nullopt;
  }
  const Packet request = echo_request(six);
  if (::send(fd.get(), request.data(), request.size(), 0) < 0) {
    return std::nullopt;
  }
  const Deadline deadline = Deadline::after(limit);
  while (wait_for(fd.get(), POLLIN, deadline, -1).value_or(false)) {
    if (take_reply(fd.get(), six)) {
      return true;
    }
  }
  return false;
}

}  // namespace netbench::session
