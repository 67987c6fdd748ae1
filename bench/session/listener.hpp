#pragma once

#include <cstdint>
#include <string>

#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"

namespace netbench::session {

/// A listening TCP socket, non-blocking, whose options can be put back to the system's defaults.
class Listener {
 public:
  /// `address` numeric, or empty for all (IPv6 socket that takes IPv4 as well, or IPv4 where the
  /// host has no IPv6). `port` 0 picks one. Errors: `port-in-use`, `bad-address`, `listen-failed`.
  [[nodiscard]] static Result<Listener> open(const std::string& address, std::uint16_t port);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const { return address_.port(); }
  [[nodiscard]] const SocketAddress& address() const { return address_; }

  /// Buffer sizes back to the default with autotuning (SO_BUF_LOCK, kernel 5.14; before that the
  /// socket is replaced under the same descriptor), no MSS limit, the system's congestion control.
  [[nodiscard]] Status restore();
  /// The replacement that restore() falls back to.
  [[nodiscard]] Status reopen();

 private:
  Listener(UniqueFd fd, const SocketAddress& address);

  UniqueFd fd_;
  SocketAddress address_;
};

}  // namespace netbench::session
