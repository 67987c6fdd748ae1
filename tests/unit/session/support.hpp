#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/agent_server.hpp"
#include "bench/session/client.hpp"
#include "bench/session/listener.hpp"

namespace netbench::session::test {

using namespace std::chrono_literals;

inline Deadline soon(Nanoseconds delay = 5s) { return Deadline::after(delay); }

/// Waits until `condition` holds; false after `limit`.
inline bool eventually(const std::function<bool()>& condition, Nanoseconds limit = 5s) {
  const Deadline deadline = Deadline::after(limit);
  while (!condition()) {
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

inline double seconds_since(std::int64_t begin_ns) {
  return 1e-9 * static_cast<double>(monotonic_ns() - begin_ns);
}

/// A blocking TCP connection to a port of the loopback address.
inline UniqueFd connect_raw(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    fd.reset();
  }
  return fd;
}

inline void send_text(int fd, std::string_view text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

/// All that comes until the other end closes, or nothing comes for `limit`.
inline std::string read_to_end(int fd, Nanoseconds limit = 3s) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(limit).count();
  const timeval timeout{.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t count = 0; (count = ::recv(fd, bytes.data(), bytes.size(), 0)) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return text;
}

/// True once the other end has closed or reset the connection.
inline bool is_closed(int fd) {
  char byte = 0;
  const ssize_t count = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN);
}

/// Two ends of a TCP connection over the loopback address, non-blocking.
inline std::pair<UniqueFd, UniqueFd> connected_pair() {
  auto listener = Listener::open("127.0.0.1", 0).value();
  UniqueFd client = connect_raw(listener.port());
  ::fcntl(client.get(), F_SETFL, O_NONBLOCK);
  UniqueFd server;
  EXPECT_TRUE(eventually([&] {
    server.reset(::accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    return server.valid();
  }));
  return {std::move(client), std::move(server)};
}

/// A server that is no agent: runs `serve` on each connection, one at a time.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(int fd)> serve)
      : listener_(Listener::open("127.0.0.1", 0).value()) {
    ::fcntl(listener_.fd(), F_SETFL, 0);
    // No SIGPIPE for a server that writes to a client that has left.
    thread_ = start_thread("fake-server", [this, serve = std::move(serve)] {
      while (true) {
        const UniqueFd fd(::accept(listener_.fd(), nullptr, nullptr));
        if (!fd.valid()) {
          return;
        }
        serve(fd.get());
      }
    });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

 private:
  Listener listener_;
  std::thread thread_;
};

inline Hello hello_of(const std::string& host_name) {
  Hello hello = local_hello("0.1.0");
  hello.host_name = host_name;
  return hello;
}

/// Serves a client until it closes or is lost.
inline void serve_until_end(Channel& channel, const Hello& /*client*/) {
  while (channel.receive(soon(30s))) {
  }
}

/// An agent on the loopback address that runs on a thread of its own.
class TestAgent {
 public:
  explicit TestAgent(AgentOptions options, AgentServer::Handler handler = serve_until_end) {
    options.address = "127.0.0.1";
    options.port = 0;
    server_ = AgentServer::start(options).value();
    thread_ = std::thread([this, handler = std::move(handler)] { server_->run(handler); });
  }
  TestAgent(const TestAgent&) = delete;
  TestAgent& operator=(const TestAgent&) = delete;
  ~TestAgent() {
    server_->stop();
    thread_.join();
  }
  [[nodiscard]] AgentServer& server() { return *server_; }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  std::unique_ptr<AgentServer> server_;
  std::thread thread_;
};

inline AgentOptions keyed_agent(const Key& key) {
  AgentOptions options;
  options.key = key;
  options.hello = hello_of("agent");
  return options;
}

inline AgentOptions insecure_agent() {
  AgentOptions options;
  options.insecure = true;
  options.hello = hello_of("agent");
  return options;
}

/// Options of a client; without a key where none is given. Patient, so that a loaded machine does
/// not decide the tests.
inline ConnectOptions client_of(std::uint16_t port, std::optional<Key> key = std::nullopt) {
  ConnectOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.key = std::move(key);
  options.hello = hello_of("client");
  options.answer_limit = 20s;
  return options;
}

}  // namespace netbench::session::test
