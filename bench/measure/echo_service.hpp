#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/acceptor.hpp"

namespace netbench::measure {

/// Sends every byte of a few data connections back, one connection after the other: the responder
/// of path probing over TCP. Runs from its making until it is destroyed.
class EchoService {
 public:
  static constexpr std::size_t kConnections = 6;

  /// Issues the tokens. Errors: those of Acceptor::issue_token().
  [[nodiscard]] static Result<std::unique_ptr<EchoService>> start(session::Acceptor& acceptor);
  ~EchoService();
  EchoService(const EchoService&) = delete;
  EchoService& operator=(const EchoService&) = delete;

  [[nodiscard]] const std::vector<session::Token>& tokens() const { return tokens_; }

 private:
  EchoService(session::Acceptor& acceptor, std::vector<session::Token> tokens);

  void serve();
  void echo(const UniqueFd& connection) const;

  session::Acceptor& acceptor_;
  std::vector<session::Token> tokens_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace netbench::measure
