#include "tests/conformance/rendezvous.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>
#include <stdexcept>

namespace netbench::conformance {

namespace {

TestRendezvous& state(const nb_host* host, const char* id) {
  return *static_cast<TestRendezvous*>(plugin::HostServices::state_of(host, id));
}

TestRendezvous::Token token_of(const std::uint8_t* bytes) {
  TestRendezvous::Token token{};
  std::memcpy(token.data(), bytes, token.size());
  return token;
}

nb_status copy_token(TestRendezvous& rendezvous, std::uint8_t* into) {
  const auto token = rendezvous.issue();
  std::memcpy(into, token.data(), token.size());
  return NB_OK;
}

constexpr nb_rendezvous kStreams{
    sizeof(nb_rendezvous),
    [](const nb_host* host, std::uint8_t* token) {
      return copy_token(state(host, NB_RENDEZVOUS_ID), token);
    },
    [](const nb_host* host, const std::uint8_t* token, std::int64_t timeout_ns, int* fd) {
      return state(host, NB_RENDEZVOUS_ID).take_connection(token_of(token), timeout_ns, fd);
    },
    [](const nb_host* host) { return state(host, NB_RENDEZVOUS_ID).listener(); }};

constexpr nb_datagram_rendezvous kDatagrams{
    sizeof(nb_datagram_rendezvous),
    [](const nb_host* host, std::uint8_t* token) {
      return copy_token(state(host, NB_DATAGRAM_RENDEZVOUS_ID), token);
    },
    [](const nb_host* host, const std::uint8_t* token, const void* /*local*/,
       std::size_t /*local_bytes*/, std::int64_t timeout_ns, int* fd) {
      return state(host, NB_DATAGRAM_RENDEZVOUS_ID)
          .take_datagram_peer(token_of(token), timeout_ns, fd);
    }};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A socket of `type` on 127.0.0.1:`port`; throws where the system refuses.
UniqueFd bound_socket(int type, std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot bind on 127.0.0.1");
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool wait_readable(int fd, const Deadline& deadline) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, deadline.poll_timeout_ms()) > 0;
}

using Hello = std::array<std::uint8_t, 4 + NB_TOKEN_BYTES>;

bool has_magic(const Hello& hello, const char* magic) {
  return std::memcmp(hello.data(), magic, 4) == 0;
}

}  // namespace

TestRendezvous::TestRendezvous() {
  listener_ = bound_socket(SOCK_STREAM, 0);
  if (listen(listener_.get(), 128) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  datagrams_ = bound_socket(SOCK_DGRAM, port_of(listener_.get()));
}

void TestRendezvous::offer_to(plugin::HostServices& host) {
  host.offer(NB_RENDEZVOUS_ID, &kStreams, this);
  host.offer(NB_DATAGRAM_RENDEZVOUS_ID, &kDatagrams, this);
}

std::vector<std::uint8_t> TestRendezvous::address() const {
  const sockaddr_in address = loopback(port_of(listener_.get()));
  std::vector<std::uint8_t> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

TestRendezvous::Token TestRendezvous::issue() {
  Token token{};
  ++issued_;
  std::memcpy(token.data(), &issued_, sizeof issued_);
  return token;
}

void TestRendezvous::accept_one() {
  UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const timeval second{1, 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  Hello hello{};
  if (recv(connection.get(), hello.data(), hello.size(), MSG_WAITALL) !=
          static_cast<ssize_t>(hello.size()) ||
      !has_magic(hello, NB_DATA_MAGIC)) {
    return;  // not a data connection: closed
  }
  const timeval never{0, 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
  arrived_[token_of(hello.data() + 4)] = std::move(connection);
}

nb_status TestRendezvous::take_connection(const Token& token, std::int64_t timeout_ns, int* fd) {
  const Deadline deadline = Deadline::after(Nanoseconds(timeout_ns));
  while (!arrived_.contains(token)) {
    if (!wait_readable(listener_.get(), deadline)) {
      return NB_TIMED_OUT;
    }
    accept_one();
  }
  *fd = arrived_.extract(token).mapped().release();
  return NB_OK;
}

nb_status TestRendezvous::take_datagram_peer(const Token& token, std::int64_t timeout_ns, int* fd) {
  const Deadline deadline = Deadline::after(Nanoseconds(timeout_ns));
  while (wait_readable(datagrams_.get(), deadline)) {
    Hello hello{};
    sockaddr_in source{};
    socklen_t size = sizeof source;
    const ssize_t count = recvfrom(datagrams_.get(), hello.data(), hello.size(), 0,
                                   reinterpret_cast<sockaddr*>(&source), &size);
    if (count != static_cast<ssize_t>(hello.size()) || !has_magic(hello, NB_DATAGRAM_MAGIC) ||
        token_of(hello.data() + 4) != token) {
      continue;  // its sender repeats it
    }
    UniqueFd peer = bound_socket(SOCK_DGRAM, port_of(datagrams_.get()));
    if (connect(peer.get(), reinterpret_cast<sockaddr*>(&source), size) != 0) {
      return NB_FAILED;
    }
    *fd = peer.release();
    return NB_OK;
  }
  return NB_TIMED_OUT;
}

}  // namespace netbench::conformance
