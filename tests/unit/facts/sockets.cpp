#include "tests/unit/facts/sockets.hpp"

#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace netbench::facts {

sockaddr_storage address_of(const std::string& address, std::uint16_t port, socklen_t& bytes) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  sockaddr_storage storage{};
  const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  EXPECT_EQ(error, 0) << address;
  if (error == 0) {
    bytes = found->ai_addrlen;
    std::memcpy(&storage, found->ai_addr, bytes);
    ::freeaddrinfo(found);
  }
  return storage;
}

namespace {

UniqueFd bound(const std::string& address, std::uint16_t port, int type, int mss_bytes) {
  socklen_t bytes = 0;
  const auto target = address_of(address, port, bytes);
  UniqueFd socket(::socket(target.ss_family, type | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (mss_bytes > 0) {
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_MAXSEG, &mss_bytes, sizeof(mss_bytes));
  }
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&target), bytes), 0)
      << address << ": " << std::strerror(errno);
  return socket;
}

}  // namespace

UniqueFd tcp_listener(const std::string& address, std::uint16_t port, int mss_bytes) {
  UniqueFd socket = bound(address, port, SOCK_STREAM, mss_bytes);
  EXPECT_EQ(::listen(socket.get(), 8), 0);
  return socket;
}

UniqueFd udp_bound(const std::string& address, std::uint16_t port) {
  return bound(address, port, SOCK_DGRAM, 0);
}

UniqueFd tcp_connect(const std::string& address, std::uint16_t port, int mss_bytes) {
  socklen_t bytes = 0;
  const auto target = address_of(address, port, bytes);
  UniqueFd socket(::socket(target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (mss_bytes > 0) {
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_MAXSEG, &mss_bytes, sizeof(mss_bytes));
  }
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target), bytes), 0)
      << address << ": " << std::strerror(errno);
  return socket;
}

void send_bytes(int socket, std::int64_t bytes) {
  const std::vector<char> block(std::size_t{128} * 1024, 'x');
  while (bytes > 0) {
    const auto wanted = std::min<std::int64_t>(bytes, static_cast<std::int64_t>(block.size()));
    const ssize_t sent =
        ::send(socket, block.data(), static_cast<std::size_t>(wanted), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    bytes -= sent;
  }
}

std::int64_t receive_bytes(int socket, std::int64_t bytes) {
  std::vector<char> block(std::size_t{256} * 1024);
  std::int64_t received = 0;
  while (received < bytes) {
    const ssize_t got = ::recv(socket, block.data(), block.size(), 0);
    if (got <= 0) {
      break;
    }
    received += got;
  }
  return received;
}

}  // namespace netbench::facts
