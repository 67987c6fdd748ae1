#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/frame.hpp"
#include "bench/session/listener.hpp"
#include "bench/session/stream.hpp"
#include "bench/session/tls.hpp"
#include "bench/session/tokens.hpp"
#include "bench/session/wake.hpp"

namespace netbench::session {

/// A client whose first frame (its hello) has come.
struct Arrival {
  Stream stream;
  FrameDecoder decoder;
  Message hello;
  SocketAddress peer;
};

/// Decides about a client: takes the arrival's members and returns nothing, or leaves them and
/// returns the refusal to send. Called on the accept thread: must not wait.
using AdmitClient = std::function<std::optional<Error>(Arrival& arrival)>;

struct AcceptorOptions {
  std::string address;                // numeric; empty = all, IPv4 and IPv6
  std::uint16_t port = kDefaultPort;  // 0 = pick one
  std::optional<Key> key;
  std::string identity;         // empty = the key's own
  bool allow_insecure = false;  // accept clients without a key
  std::string greeting;         // what a person who connects with the wrong program reads
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
  struct Pending;
  enum class Verdict { keep, drop };

  Acceptor(const AcceptorOptions& options, AdmitClient admit, Listener listener);

  void loop();
  void wait_for_events();
  [[nodiscard]] int poll_timeout_ms() const;
  void accept_all();
  void add(UniqueFd fd);
  void drop_overdue();

  // One step of a connection, by its state.
  [[nodiscard]] Verdict advance(Pending& pending);
  [[nodiscard]] Verdict read_first_bytes(Pending& pending);
  [[nodiscard]] Verdict start_tls(Pending& pending);
  [[nodiscard]] Verdict start_plain(Pending& pending);
  [[nodiscard]] Verdict read_token(Pending& pending);
  [[nodiscard]] Verdict go_on_handshake(Pending& pending);
  [[nodiscard]] Verdict read_hello(Pending& pending);
  [[nodiscard]] Verdict admit(Pending& pending, Message hello);
  [[nodiscard]] Verdict refuse(Pending& pending, const Error& error);
  [[nodiscard]] Verdict dismiss(Pending& pending, const std::string& last_words);
  [[nodiscard]] Verdict drain(Pending& pending);

  AcceptorOptions options_;
  AdmitClient admit_;
  std::unique_ptr<TlsContext> tls_;
  Listener listener_;
  TokenDesk tokens_;
  WakeFd wake_;
  std::atomic<bool> stopping_{false};

  // [accept thread], oldest first
  std::vector<std::unique_ptr<Pending>> pending_;
  std::int64_t accept_again_ns_ = 0;  // descriptors ran out: no accept before

  std::thread thread_;
};

}  // namespace netbench::session
