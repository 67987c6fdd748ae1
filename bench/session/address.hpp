#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"

namespace netbench::session {

/// Port of the agent, TCP and UDP.
inline constexpr std::uint16_t kDefaultPort = 18550;

/// An IPv4 or IPv6 socket address by value. IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2)
/// are turned into IPv4 when they are read from a socket.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] std::uint16_t port() const;
  /// "192.168.1.101", "fe80::1%eth0".
  [[nodiscard]] std::string host() const;
  /// "192.168.1.101:18550", "[fe80::1%eth0]:18550".
  [[nodiscard]] std::string text() const;
};

/// A socket address out of what the kernel or getaddrinfo filled in.
[[nodiscard]] SocketAddress make_address(const sockaddr* address, socklen_t size);
/// Both ends of a socket; size 0 where the kernel does not know (not connected).
[[nodiscard]] SocketAddress local_address(int fd);
[[nodiscard]] SocketAddress peer_address(int fd);

/// Host and port of a `--peer`.
struct PeerName {
  std::string host;
  std::uint16_t port = kDefaultPort;
};

/// Reads "host", "host:port", "1.2.3.4:port", "[v6]", "[v6]:port" and a bare IPv6 address.
/// Errors: `bad-peer`, exit class usage.
[[nodiscard]] Result<PeerName> parse_peer(std::string_view text);

}  // namespace netbench::session
