#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "bench/core/unique_fd.hpp"
#include "bench/session/tls.hpp"

namespace netbench::session {

/// What a non-blocking operation came to. `closed`: the peer ended or reset the connection;
/// `failed`: the network or TLS did (Stream::failure says what).
enum class IoState { done, want_read, want_write, closed, failed };

struct IoResult {
  IoState state = IoState::done;
  std::size_t bytes = 0;
};

/// A connected non-blocking socket, with or without TLS on it. Used by one thread at a time.
class Stream {
 public:
  explicit Stream(UniqueFd fd);
  /// Takes over `ssl`, as made by TlsContext, not yet attached to a socket.
  Stream(UniqueFd fd, UniqueSsl ssl);
  Stream(Stream&&) noexcept;
  ~Stream();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool secure() const { return ssl_ != nullptr; }

  /// Goes on with the TLS handshake; `done` at once on a plain stream.
  [[nodiscard]] IoState handshake();
  [[nodiscard]] IoResult read(char* data, std::size_t capacity);
  [[nodiscard]] IoResult write(const char* data, std::size_t size);
  /// Tells the peer that nothing follows (close_notify, then FIN); reading goes on.
  void shutdown_write();

  /// Gives the socket back to the system; only the questions below may follow.
  void close() { fd_.reset(); }

  /// Hands the socket over; a plain stream that has read nothing beyond it.
  [[nodiscard]] UniqueFd release() { return std::move(fd_); }

  /// The first bytes that came in, as they were on the wire, at most 64: who is it?
  [[nodiscard]] const std::string& first_bytes() const;

  /// The TLS alert that the peer sent (RFC 8446 section 6), or -1.
  [[nodiscard]] int alert() const { return alert_; }
  /// The errno of the last failure of the socket, or 0.
  [[nodiscard]] int sys_errno() const;
  /// The last failure in words.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct Socket;

  [[nodiscard]] IoState tls_state(int ret);
  [[nodiscard]] IoState socket_state();

  UniqueFd fd_;
  std::unique_ptr<Socket> socket_;  // what the BIO points to: its address must not change
  UniqueSsl ssl_;
  int alert_ = -1;
  std::string failure_;
};

}  // namespace netbench::session
