#include "bench/session/udp_desk.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

namespace netbench::session {

namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kHelloBytes = kMagicBytes + kTokenBytes;
constexpr int kMaxStrayDatagrams = 4096;

template <class T>
SocketAddress from_sockaddr(const T& address) {
  return make_address(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

SocketAddress any_address(int family, std::uint16_t port) {
  if (family == AF_INET) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return from_sockaddr(four);
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  return from_sockaddr(six);
}

/// IPv4 mapped into IPv6 (RFC 4291 section 2.5.5.2) as IPv4; others as they are.
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
  return from_sockaddr(four);
}

bool is_any(const SocketAddress& address) {
  if (address.family() == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address.storage, sizeof(four));
    return four.sin_addr.s_addr == htonl(INADDR_ANY);
  }
  sockaddr_in6 six{};
  std::memcpy(&six, &address.storage, sizeof(six));
  return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
}

SocketAddress with_port(SocketAddress address, std::uint16_t port) {
  const in_port_t number =
      htons(port);  // at the same place in both families (RFC 3493 section 3.3)
  std::memcpy(reinterpret_cast<char*>(&address.storage) + offsetof(sockaddr_in, sin_port), &number,
              sizeof(number));
  return address;
}

Result<SocketAddress> numeric_address(const std::string& text, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(text.c_str(), nullptr, &hints, &list) != 0) {
    return fail("bad-address", fmt::format("\"{}\" is not an IPv4 or IPv6 address", text),
                "give an address of this host, see `ip address`", ExitClass::usage);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  return with_port(make_address(list->ai_addr, list->ai_addrlen), port);
}

/// A UDP socket that shares its port. Errors: as UdpDesk::open_socket().
Result<UniqueFd> bound_socket(const SocketAddress& address) {
  UniqueFd fd(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
  const int on = 1;
  const int off = 0;
  if (!fd.valid() || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0) {
    return fail_errno("udp-socket", "making a UDP socket", errno);
  }
  if (address.family() == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    const int error = errno;
    const std::string what = fmt::format("binding UDP {}", address.text());
    if (error == EADDRINUSE) {
      return fail(
          "udp-port-in-use", what + ": another program has the port",
          fmt::format("see `ss -ulpn sport = :{}`, or choose another port", address.port()));
    }
    const bool not_ours = error == EADDRNOTAVAIL;
    return fail_errno(not_ours ? "bad-address" : "udp-socket", what, error,
                      not_ours ? ExitClass::usage : ExitClass::error);
  }
  return fd;
}

/// Between bind() and connect() a socket gets what others sent to the port; they send it again.
void discard_strays(int fd) {
  std::array<char, 1> byte{};
  for (int i = 0; i < kMaxStrayDatagrams; ++i) {
    if (::recv(fd, byte.data(), byte.size(), MSG_DONTWAIT) < 0) {
      return;
    }
  }
}

Result<UniqueFd> connected_socket(const SocketAddress& from, const SocketAddress& to) {
  auto fd = bound_socket(from);
  if (!fd) {
    return tl::unexpected(with_context(fd.error(), "a data socket"));
  }
  if (::connect(fd->get(), to.get(), to.size) != 0) {
    return fail_errno("udp-socket", fmt::format("connecting UDP to {}", to.text()), errno);
  }
  discard_strays(fd->get());
  return fd;
}

}  // namespace

Result<UniqueFd> UdpDesk::open_socket(const std::string& address, std::uint16_t port) {
  if (!address.empty()) {
    const auto wanted = numeric_address(address, port);
    return wanted ? bound_socket(*wanted) : tl::unexpected(wanted.error());
  }
  auto dual = bound_socket(any_address(AF_INET6, port));
  return dual || dual.error().slug == "udp-port-in-use" ? std::move(dual)
                                                        : bound_socket(any_address(AF_INET, port));
}

UdpDesk::UdpDesk(int udp_socket)
    : bound_(local_address(udp_socket)),
      entry_{{sizeof(nb_datagram_rendezvous), &issue_token_call, &take_peer_call}, this} {}

Result<Token> UdpDesk::issue_token() {
  Token token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return fail_errno("no-randomness", "drawing a token", errno);
  }
  const std::scoped_lock lock(mutex_);
  if (sources_.size() >= kMaxTokens) {
    return fail("too-many-tokens", fmt::format("{} UDP tokens are unused", sources_.size()));
  }
  sources_.emplace(token, std::nullopt);
  return token;
}

bool UdpDesk::on_datagram(std::span<const std::uint8_t> datagram, const sockaddr* source,
                          socklen_t source_bytes) {
  if (datagram.size() != kHelloBytes ||
      std::memcmp(datagram.data(), NB_DATAGRAM_MAGIC, kMagicBytes) != 0 || source == nullptr) {
    return false;
  }
  Token token{};
  std::ranges::copy(datagram.subspan(kMagicBytes), token.begin());
  const std::scoped_lock lock(mutex_);
  const auto at = sources_.find(token);
  if (at == sources_.end()) {
    return false;
  }
  if (!at->second) {
    at->second = unmapped(make_address(source, source_bytes));
    changed_.notify_all();
  }
  return true;
}

Result<SocketAddress> UdpDesk::wait_for_source(const Token& token, const Deadline& deadline) {
  const auto until = std::chrono::steady_clock::now() + std::max(deadline.left(), Nanoseconds(0));
  std::unique_lock lock(mutex_);
  while (true) {
    const auto at = sources_.find(token);
    if (at == sources_.end()) {
      return fail("unknown-token", "a UDP token was never issued, or is used up");
    }
    if (at->second) {
      return *at->second;
    }
    if (changed_.wait_until(lock, until) == std::cv_status::timeout) {
      return fail("data-timeout", "the peer's first datagram did not come in time",
                  fmt::format("open UDP port {} in the firewall", port()));
    }
  }
}

Result<UniqueFd> UdpDesk::make_socket(const SocketAddress& source,
                                      const SocketAddress& local) const {
  if (!is_any(bound_) && bound_.family() == source.family()) {
    return connected_socket(bound_, source);
  }
  if (local.size != 0 && unmapped(local).family() == source.family()) {
    // The control channel may end on another address of this host (a tunnel): then the route's.
    if (auto fd = connected_socket(with_port(unmapped(local), port()), source)) {
      return fd;
    }
  }
  return connected_socket(any_address(source.family(), port()), source);
}

Result<UniqueFd> UdpDesk::take(const Token& token, const SocketAddress& local,
                               const Deadline& deadline) {
  const auto source = wait_for_source(token, deadline);
  if (!source) {
    return tl::unexpected(source.error());
  }
  auto fd = make_socket(*source, local);
  if (fd) {
    const std::scoped_lock lock(mutex_);
    if (sources_.erase(token) == 0) {
      return fail("unknown-token", "a UDP token was taken twice at the same time");
    }
  }
  return fd;
}

void UdpDesk::clear() {
  const std::scoped_lock lock(mutex_);
  sources_.clear();
  changed_.notify_all();
}

UdpDesk& UdpDesk::desk_of(const nb_host* host) {
  const void* table = host->extension(host, NB_DATAGRAM_RENDEZVOUS_ID);
  return *static_cast<const Entry*>(table)->desk;
}

nb_status UdpDesk::issue_token_call(const nb_host* host, std::uint8_t token[NB_TOKEN_BYTES]) {
  const auto issued = desk_of(host).issue_token();
  if (!issued) {
    return NB_FAILED;
  }
  std::ranges::copy(*issued, token);
  return NB_OK;
}

nb_status UdpDesk::take_peer_call(const nb_host* host, const std::uint8_t token[NB_TOKEN_BYTES],
                                  const void* local_address, std::size_t local_address_bytes,
                                  std::int64_t timeout_ns, int* fd) {
  Token wanted{};
  std::copy_n(token, wanted.size(), wanted.begin());
  const SocketAddress local = local_address == nullptr || local_address_bytes == 0
                                  ? SocketAddress{}
                                  : make_address(static_cast<const sockaddr*>(local_address),
                                                 static_cast<socklen_t>(local_address_bytes));
  auto taken = desk_of(host).take(wanted, local, Deadline::after(Nanoseconds(timeout_ns)));
  if (!taken) {
    return taken.error().slug == "data-timeout" ? NB_TIMED_OUT : NB_FAILED;
  }
  *fd = taken->release();
  return NB_OK;
}

}  // namespace netbench::session
