#pragma once

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

/// Socket addresses as they come through nb_open_args.
namespace netbench::sdk {

/// An IPv4 or IPv6 socket address, owned; length 0 where the harness gave none.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
  /// "192.0.2.1:18550" or "[2001:db8::1]:18550".
  [[nodiscard]] std::string text() const {
    char host[INET6_ADDRSTRLEN] = {};
    if (family() == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
      inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
      return std::string(host) + ":" + std::to_string(ntohs(v4->sin_port));
    }
    if (family() == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
      inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
      return "[" + std::string(host) + "]:" + std::to_string(ntohs(v6->sin6_port));
    }
    return "(no address)";
  }
};

/// The address in `bytes` bytes at `data`; empty where there are none.
[[nodiscard]] inline Address copy_address(const void* data, std::size_t bytes) {
  Address address;
  if (data != nullptr && bytes > 0) {
    address.length = static_cast<socklen_t>(std::min(bytes, sizeof address.storage));
    std::memcpy(&address.storage, data, address.length);
  }
  return address;
}

/// A numeric address of that family, "fe80::1%eth0" too, port 0; nothing where it is none.
[[nodiscard]] inline std::optional<Address> parse_numeric(const std::string& text, int family) {
  Address address;
  address.storage.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    address.length = sizeof *v4;
    return inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1 ? std::optional(address)
                                                                : std::nullopt;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  const std::size_t percent = text.find('%');
  address.length = sizeof *v6;
  if (percent != std::string::npos) {
    v6->sin6_scope_id = if_nametoindex(text.substr(percent + 1).c_str());
  }
  return inet_pton(AF_INET6, text.substr(0, percent).c_str(), &v6->sin6_addr) == 1
             ? std::optional(address)
             : std::nullopt;
}

}  // namespace netbench::sdk
