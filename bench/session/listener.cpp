#include "bench/session/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace netbench::session {

namespace {

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72  // asm-generic/socket.h since Linux 5.14
#endif

constexpr int kBacklog = 4096;                // the kernel cuts it to net.core.somaxconn
constexpr std::size_t kCongestionBytes = 16;  // TCP_CA_NAME_MAX

using CongestionName = std::array<char, kCongestionBytes>;

bool set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

int get_option(int fd, int level, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  ::getsockopt(fd, level, name, &value, &size);
  return value;
}

Result<SocketAddress> parse_bind_address(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    return fail("bad-address",
                fmt::format("cannot listen on \"{}\": {}", address, ::gai_strerror(code)),
                "give a numeric address of this host", ExitClass::usage);
  }
  const SocketAddress out = make_address(found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return out;
}

tl::unexpected<Error> listen_error(const SocketAddress& address, int error) {
  auto failed =
      fail_errno("listen-failed", fmt::format("cannot listen on {}", address.text()), error);
  if (error == EADDRINUSE) {
    failed.value().slug = "port-in-use";
    failed.value().remedy = fmt::format(
        "another program (perhaps an agent) has the port, see `ss -ltnp sport = :{}`; stop it or "
        "choose another with --port",
        address.port());
  } else if (error == EADDRNOTAVAIL) {
    failed.value().slug = "bad-address";
    failed.value().remedy = "no interface of this host has that address: see `ip address`";
  }
  return failed;
}

Result<UniqueFd> bind_socket(const SocketAddress& address) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return listen_error(address, errno);
  }
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) {
    set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);  // "::" takes IPv4 as well
  }
  if (::bind(fd.get(), address.get(), address.size) != 0) {
    return listen_error(address, errno);
  }
  return fd;
}

Result<UniqueFd> listen_on(const SocketAddress& address) {
  auto fd = bind_socket(address);
  if (fd && ::listen(fd->get(), kBacklog) != 0) {
    return listen_error(address, errno);
  }
  return fd;
}

CongestionName congestion_of(int fd) {
  CongestionName name{};
  socklen_t size = name.size();
  ::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size);
  return name;
}

bool reset_buffers(int fd, int fresh) {
  for (const int option : {SO_RCVBUF, SO_SNDBUF}) {
    const int wanted = get_option(fresh, SOL_SOCKET, option);
    // The kernel doubles what is set (socket(7)), and cuts it to a limit that the default may
    // exceed.
    if (!set_option(fd, SOL_SOCKET, option, wanted / 2) ||
        get_option(fd, SOL_SOCKET, option) != wanted) {
      return false;
    }
  }
  return set_option(fd, SOL_SOCKET, SO_BUF_LOCK, 0);
}

}  // namespace

Listener::Listener(UniqueFd fd, const SocketAddress& address)
    : fd_(std::move(fd)), address_(address) {}

Result<Listener> Listener::open(const std::string& address, std::uint16_t port) {
  auto wanted = parse_bind_address(address.empty() ? "::" : address, port);
  if (!wanted) {
    return tl::unexpected(wanted.error());
  }
  auto fd = listen_on(*wanted);
  if (!fd && address.empty() && fd.error().slug != "port-in-use") {  // a host without IPv6
    wanted = parse_bind_address("0.0.0.0", port);
    fd = listen_on(*wanted);
  }
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  const SocketAddress bound = local_address(fd->get());
  return Listener(std::move(*fd), bound);
}

Status Listener::restore() {
  // A fresh socket has what the system's settings give now.
  const UniqueFd fresh(::socket(address_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const CongestionName congestion = congestion_of(fresh.get());
  const bool restored =
      fresh.valid() && reset_buffers(fd(), fresh.get()) &&
      set_option(fd(), IPPROTO_TCP, TCP_MAXSEG, 0) &&
      ::setsockopt(fd(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                   static_cast<socklen_t>(::strnlen(congestion.data(), congestion.size()))) == 0;
  return restored ? Status{} : reopen();
}

Status Listener::reopen() {
  // Two sockets may be bound to one address as long as neither listens; a shutdown ends the
  // listening of the old one.
  ::shutdown(fd(), SHUT_RDWR);
  const auto fresh = listen_on(address_);
  if (!fresh) {
    return tl::unexpected(fresh.error());
  }
  if (::dup3(fresh->get(), fd(), O_CLOEXEC) < 0) {
    return fail_errno("listen-failed", "cannot replace the listening socket", errno);
  }
  return {};
}

}  // namespace netbench::session
