#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "transports/sdk/error.hpp"
#include "transports/tcp/options.hpp"

/// One TCP socket: ownership, options, errors.
namespace netbench::tcp {

/// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_ = -1;
};

/// Time for open and connect where the harness names none.
inline constexpr std::int64_t kDefaultDeadlineNs = 10'000'000'000;

/// No byte moved for this long: the peer is taken to be gone.
inline constexpr std::int64_t kStallLimitNs = 10'000'000'000;

template <class T>
[[nodiscard]] bool try_set(int fd, int level, int name, const T& value) noexcept {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

/// Throws NB_FAILED naming the tunable.
template <class T>
void set_option(int fd, int level, int name, const T& value, const char* tunable) {
  if (!try_set(fd, level, name, value)) {
    throw sdk::system_error("socket-option-refused",
                            std::string(tunable) + ": the kernel refused the socket option", errno);
  }
}

/// Nothing where the kernel does not know the option.
template <class T>
[[nodiscard]] std::optional<T> get_option(int fd, int level, int name) noexcept {
  T value{};
  socklen_t length = sizeof value;
  if (::getsockopt(fd, level, name, &value, &length) != 0) {
    return std::nullopt;
  }
  return value;
}

/// Throws NB_INVALID where the kernel has no such congestion control or does not allow it.
void set_congestion(int fd, const std::string& name);
/// Name of the socket's congestion control, empty where unknown.
[[nodiscard]] std::string congestion_of(int fd);

/// What has to be in place before the handshake: receive buffer and MSS decide the SYN, congestion
/// control the first window. On the initiator's socket, and on the responder's borrowed listener.
void apply_before_connect(int fd, const Options& options);

/// Everything else, on a connected socket of either end.
void apply_connected(int fd, const Options& options);

/// Source address or interface of the initiator; does nothing for `auto`.
void bind_source(int fd, const Options& options);

/// A new socket with bind, dscp and the options before the connection. Throws.
[[nodiscard]] Fd make_socket(const Options& options);

[[nodiscard]] sdk::Error too_many_streams(std::int64_t connections, std::int64_t needed,
                                          std::int64_t limit);
/// The error of a failed connect() to `peer`.
[[nodiscard]] sdk::Error connect_error(const Address& peer, int sys_errno);
/// The error of a connection that broke while in use.
[[nodiscard]] sdk::Error broken_connection(int sys_errno);

}  // namespace netbench::tcp
