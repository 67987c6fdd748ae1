#include "bench/facts/addresses.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace netbench::facts {

namespace {

IpAddress from_v6(const sockaddr_in6& v6) {
  IpAddress address;
  const auto* raw = v6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    address.family = AF_INET;
    std::copy_n(raw + 12, 4, address.bytes.begin());
    return address;
  }
  address.family = AF_INET6;
  address.scope_index = static_cast<int>(v6.sin6_scope_id);
  std::copy_n(raw, 16, address.bytes.begin());
  return address;
}

}  // namespace

IpAddress ip_of(const sockaddr_storage& socket_address) {
  if (socket_address.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &socket_address, sizeof(v6));
    return from_v6(v6);
  }
  IpAddress address;
  if (socket_address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &socket_address, sizeof(v4));
    address.family = AF_INET;
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof(v4.sin_addr));
  }
  return address;
}

Result<IpAddress> parse_ip(const std::string& text) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) {
    return fail("bad-address", fmt::format("\"{}\" is not a numeric IP address", text));
  }
  sockaddr_storage storage{};
  std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return ip_of(storage);
}

std::string to_text(const IpAddress& address) {
  if (address.family == AF_UNSPEC) {
    return {};
  }
  const auto text = ip_text(address.raw());
  return address.scope_index == 0 ? text : fmt::format("{}%{}", text, address.scope_index);
}

std::string ip_text(std::span<const std::uint8_t> raw) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = raw.size() == 4 ? AF_INET : AF_INET6;
  if (raw.size() != 4 && raw.size() != 16) {
    return {};
  }
  ::inet_ntop(family, raw.data(), text.data(), text.size());
  return text.data();
}

std::string hardware_text(std::span<const std::uint8_t> raw) {
  std::string text;
  for (const auto byte : raw) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : ":", byte);
  }
  return text;
}

bool in_prefix(const IpAddress& address, const IpAddress& network, int prefix_length) {
  if (address.family != network.family) {
    return false;
  }
  for (int bit = 0; bit < prefix_length; bit += 8) {
    const auto index = static_cast<std::size_t>(bit / 8);
    const int left = std::min(8, prefix_length - bit);
    const auto mask = static_cast<std::uint8_t>(0xFFU << (8 - left));
    if (((address.bytes.at(index) ^ network.bytes.at(index)) & mask) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace netbench::facts
