#include "bench/measure/echo_service.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "bench/session/wake.hpp"

namespace netbench::measure {

namespace {

/// How soon the service notices that it is to end.
constexpr Nanoseconds kPatience = std::chrono::milliseconds(200);
constexpr int kPatienceMs = 200;

bool send_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const auto sent = ::send(fd, data, size, MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<EchoService>> EchoService::start(session::Acceptor& acceptor) {
  std::vector<session::Token> tokens;
  for (std::size_t i = 0; i < kConnections; ++i) {
    auto token = acceptor.issue_token();
    if (!token) {
      return tl::unexpected(token.error());
    }
    tokens.push_back(*token);
  }
  return std::unique_ptr<EchoService>(new EchoService(acceptor, std::move(tokens)));
}

EchoService::EchoService(session::Acceptor& acceptor, std::vector<session::Token> tokens)
    : acceptor_(acceptor),
      tokens_(std::move(tokens)),
      thread_(session::start_thread("nb-echo", [this] { serve(); })) {}

EchoService::~EchoService() {
  ending_ = true;
  thread_.join();
}

void EchoService::serve() {
  for (const session::Token& token : tokens_) {
    while (!ending_) {
      const auto connection = acceptor_.take_connection(token, Deadline::after(kPatience));
      if (connection) {
        echo(*connection);
        break;
      }
      if (connection.error().slug != "data-timeout") {
        return;
      }
    }
  }
}

void EchoService::echo(const UniqueFd& connection) const {
  // A path that swallows what is sent back must not hold the service for long.
  const timeval limit{1, 0};
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  std::array<char, 16384> buffer{};
  while (!ending_) {
    pollfd poll{connection.get(), POLLIN, 0};
    if (::poll(&poll, 1, kPatienceMs) == 0) {
      continue;
    }
    const auto received = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (received <= 0 ||
        !send_all(connection.get(), buffer.data(), static_cast<std::size_t>(received))) {
      return;
    }
  }
}

}  // namespace netbench::measure
