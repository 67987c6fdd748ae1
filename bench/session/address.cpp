#include "bench/session/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace netbench::session {

namespace {

SocketAddress unmapped(const SocketAddress& address) {
  sockaddr_in6 six{};
  std::memcpy(&six, &address.storage, sizeof(six));
  if (address.family() != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    return address;
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  std::memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof(four.sin_addr));
  return make_address(reinterpret_cast<const sockaddr*>(&four), sizeof(four));
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

SocketAddress ask(NameCall call, int fd) {
  SocketAddress address;
  socklen_t size = sizeof(address.storage);
  if (call(fd, reinterpret_cast<sockaddr*>(&address.storage), &size) != 0) {
    return {};
  }
  address.size = size;
  return unmapped(address);
}

tl::unexpected<Error> bad_peer(std::string_view text, const char* what) {
  return fail("bad-peer", fmt::format("cannot read the peer \"{}\": {}", text, what),
              "give HOST, HOST:PORT or [IPv6]:PORT", ExitClass::usage);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && port != 0 ? std::optional(port) : std::nullopt;
}

Result<PeerName> with_port(std::string_view text, std::string_view host, std::string_view port) {
  const auto number = parse_port(port);
  if (!number) {
    return bad_peer(text, "the port is not a number from 1 to 65535");
  }
  return PeerName{std::string(host), *number};
}

Result<PeerName> parse_bracketed(std::string_view text) {
  const auto close = text.find(']');
  if (close == std::string_view::npos || close == 1) {
    return bad_peer(text, "no IPv6 address between brackets");
  }
  const auto host = text.substr(1, close - 1);
  const auto rest = text.substr(close + 1);
  if (rest.empty()) {
    return PeerName{std::string(host)};
  }
  if (rest.front() != ':') {
    return bad_peer(text, "only \":PORT\" may follow the bracket");
  }
  return with_port(text, host, rest.substr(1));
}

}  // namespace

std::uint16_t SocketAddress::port() const {
  sockaddr_in four{};  // the port is at the same place in sockaddr_in6 (RFC 3493 section 3.3)
  std::memcpy(&four, &storage, sizeof(four));
  return ntohs(four.sin_port);
}

std::string SocketAddress::host() const {
  std::array<char, NI_MAXHOST> text{};
  if (size == 0 ||
      ::getnameinfo(get(), size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "unknown address";
  }
  return text.data();
}

std::string SocketAddress::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port())
                              : fmt::format("{}:{}", host(), port());
}

SocketAddress make_address(const sockaddr* address, socklen_t size) {
  SocketAddress out;
  out.size = std::min<socklen_t>(size, sizeof(out.storage));
  std::memcpy(&out.storage, address, out.size);
  return out;
}

SocketAddress local_address(int fd) { return ask(::getsockname, fd); }
SocketAddress peer_address(int fd) { return ask(::getpeername, fd); }

Result<PeerName> parse_peer(std::string_view text) {
  if (text.empty()) {
    return bad_peer(text, "it is empty");
  }
  if (text.front() == '[') {
    return parse_bracketed(text);
  }
  const auto colons = std::ranges::count(text, ':');
  if (colons != 1) {
    return PeerName{std::string(text)};  // a name, an IPv4 address, or a bare IPv6 address
  }
  const auto colon = text.find(':');
  if (colon == 0) {
    return bad_peer(text, "no host before the port");
  }
  return with_port(text, text.substr(0, colon), text.substr(colon + 1));
}

}  // namespace netbench::session
