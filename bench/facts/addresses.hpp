#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "bench/core/result.hpp"

namespace netbench::facts {

/// A numeric IPv4 or IPv6 address in network order.
struct IpAddress {
  int family = AF_UNSPEC;
  std::array<std::uint8_t, 16> bytes{};
  int scope_index = 0;  // link-local: the interface behind "%"

  [[nodiscard]] std::span<const std::uint8_t> raw() const {
    return {bytes.data(), family == AF_INET ? std::size_t{4} : std::size_t{16}};
  }
};

/// "192.168.1.1", "fe80::1%eth0"; a v4-mapped IPv6 address becomes IPv4. Errors: `bad-address`.
[[nodiscard]] Result<IpAddress> parse_ip(const std::string& text);

/// The address of a socket address, v4-mapped as IPv4; family AF_UNSPEC if it is neither.
[[nodiscard]] IpAddress ip_of(const sockaddr_storage& address);

/// Numeric text that parse_ip() takes, with "%<index>" for a link-local address.
[[nodiscard]] std::string to_text(const IpAddress& address);

/// Numeric text for the 4 or 16 bytes of a netlink attribute; "" for another length.
[[nodiscard]] std::string ip_text(std::span<const std::uint8_t> raw);

/// "02:00:5e:…" for the bytes of a hardware address; "" for none.
[[nodiscard]] std::string hardware_text(std::span<const std::uint8_t> raw);

/// True if the first `prefix_length` bits are equal (and the families).
[[nodiscard]] bool in_prefix(const IpAddress& address, const IpAddress& network, int prefix_length);

}  // namespace netbench::facts
