#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>

#include "bench/core/unique_fd.hpp"
#include "bench/session/wake.hpp"
#include "tests/unit/udp/pair.hpp"
#include "transports/udp/datagram.hpp"

namespace netbench::udp {

/// A path between one socket of an initiator and the agent, with faults: `copies` says how often a
/// data datagram towards the agent is passed on (0: lost). Everything else passes.
class Relay {
 public:
  using Copies = std::function<int(const Header& header)>;

  explicit Relay(Copies copies) : copies_(std::move(copies)) {}
  ~Relay() {
    wake_.notify();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// Begins to pass datagrams on to this port of 127.0.0.1; returns its own.
  std::uint16_t start(std::uint16_t agent_port) {
    front_ = session::UdpDesk::open_socket("127.0.0.1", 0).value();
    back_.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const session::SocketAddress agent = loopback("127.0.0.1", agent_port);
    EXPECT_EQ(::connect(back_.get(), agent.get(), agent.size), 0);
    thread_ = session::start_thread("relay", [this] { loop(); });
    return session::local_address(front_.get()).port();
  }

 private:
  void loop() {
    std::array<pollfd, 3> fds{
        {{front_.get(), POLLIN, 0}, {back_.get(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
    while (::poll(fds.data(), fds.size(), -1) > 0 && fds[2].revents == 0) {
      if (fds[0].revents != 0) {
        forward();
      }
      if (fds[1].revents != 0) {
        backward();
      }
    }
  }

  void forward() {
    client_bytes_ = sizeof client_;
    const ssize_t got = ::recvfrom(front_.get(), buffer_.data(), buffer_.size(), 0,
                                   reinterpret_cast<sockaddr*>(&client_), &client_bytes_);
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    const auto header = read_header(std::span(buffer_).first(size));
    const int copies = header && header->kind == Kind::data ? copies_(*header) : 1;
    for (int i = 0; i < copies; ++i) {
      (void)::send(back_.get(), buffer_.data(), size, 0);
    }
  }

  void backward() {
    const ssize_t got = ::recv(back_.get(), buffer_.data(), buffer_.size(), 0);
    if (got >= 0) {
      (void)::sendto(front_.get(), buffer_.data(), static_cast<std::size_t>(got), 0,
                     reinterpret_cast<const sockaddr*>(&client_), client_bytes_);
    }
  }

  Copies copies_;
  UniqueFd front_;
  UniqueFd back_;
  sockaddr_storage client_{};
  socklen_t client_bytes_ = 0;
  std::array<std::byte, 65536> buffer_{};
  session::WakeFd wake_;
  std::thread thread_;
};

}  // namespace netbench::udp
