#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/half_open.hpp"
#include "bench/session/listener.hpp"
#include "bench/session/tls.hpp"
#include "bench/session/tokens.hpp"
#include "bench/session/wake.hpp"

namespace netbench::session {

struct AcceptorOptions {
  std::string address{};              // numeric; empty = all, IPv4 and IPv6
  std::uint16_t port = kDefaultPort;  // 0 = pick one
  std::optional<Key> key{};
  std::string identity{};       // empty = the key's own
  bool allow_insecure = false;  // accept clients without a key
  Nanoseconds half_open_limit = std::chrono::seconds(5);
  std::size_t max_half_open = 256;
};

/// The one TCP port of an agent: tells control connections (TLS or plain), data connections and
/// strangers apart by their first bytes, on a thread of its own. Connections that do not get to the
/// point are dropped after a time, and the oldest first when there are many.
class Acceptor {
 public:
  /// Errors: `port-in-use`, `bad-address`, `listen-failed`, `tls-setup`.
  [[nodiscard]] static Result<std::unique_ptr<Acceptor>> start(const AcceptorOptions& options,
                                                               AdmitClient admit);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  [[nodiscard]] SocketAddress address() const { return listener_.address(); }

  /// A token for one data connection. Errors: `no-randomness`, `too-many-tokens`. [any-thread]
  [[nodiscard]] Result<Token> issue_token() { return tokens_.issue(); }
  /// Waits for the data connection of `token` and hands its socket over in blocking mode. Errors:
  /// `data-timeout`, `unknown-token`. [any-thread]
  [[nodiscard]] Result<UniqueFd> take_connection(const Token& token, const Deadline& deadline) {
    return tokens_.take(token, deadline);
  }
  /// Forgets all tokens and closes connections that nobody took: at the end of a client.
  /// [any-thread]
  void clear_tokens() { tokens_.clear(); }

  /// The listening socket, borrowed, for options that must be set before a connection is made.
  [[nodiscard]] int listener() const { return listener_.fd(); }
  /// Undoes buffer sizes, MSS and congestion control set on listener(). Errors: `listen-failed`.
  [[nodiscard]] Status restore_listener() { return listener_.restore(); }

 private:
  Acceptor(const AcceptorOptions& options, std::unique_ptr<TlsContext> tls, Listener listener,
           AdmitClient admit);

  void loop();
  void wait_for_events();
  [[nodiscard]] int poll_timeout_ms() const;
  [[nodiscard]] bool accepting() const;
  void accept_some();
  void add(UniqueFd fd);
  void advance_ready();
  void drop_overdue();

  AcceptorOptions options_;
  std::unique_ptr<TlsContext> tls_;
  Listener listener_;
  TokenDesk tokens_;
  Door door_;
  WakeFd wake_;
  std::atomic<bool> stopping_{false};

  // [accept thread]
  std::vector<std::unique_ptr<HalfOpen>> half_open_;  // oldest first
  std::vector<pollfd> polled_;
  std::int64_t accept_again_ns_ = 0;  // descriptors ran out: no accept before

  std::thread thread_;
};

}  // namespace netbench::session
