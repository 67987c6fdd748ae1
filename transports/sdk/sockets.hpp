#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "transports/sdk/address.hpp"
#include "transports/sdk/error.hpp"

/// What transports over kernel sockets share: ownership and the options that mean the same for all.
namespace netbench::sdk {

/// An owned file descriptor; -1 is none. Move-only.
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

template <class T>
[[nodiscard]] bool try_set(int fd, int level, int name, const T& value) noexcept {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

/// Throws NB_FAILED naming the tunable.
template <class T>
void set_option(int fd, int level, int name, const T& value, const char* tunable) {
  if (!try_set(fd, level, name, value)) {
    throw system_error("socket-option-refused",
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

/// AF_INET or AF_INET6 of a socket; 0 where the kernel does not say.
[[nodiscard]] inline int family_of(int fd) {
  return get_option<int>(fd, SOL_SOCKET, SO_DOMAIN).value_or(0);
}

/// Differentiated services code point: the upper six bits of the traffic class (RFC 2474 section
/// 3). An IPv6 socket that carries IPv4 needs both. Throws NB_FAILED naming `dscp`.
inline void set_dscp(int fd, std::int64_t dscp) {
  if (dscp == 0) {
    return;
  }
  const int traffic_class = static_cast<int>(dscp) << 2;
  const bool v4 = try_set(fd, IPPROTO_IP, IP_TOS, traffic_class);
  const bool v6 = try_set(fd, IPPROTO_IPV6, IPV6_TCLASS, traffic_class);
  if (!v4 && !v6) {
    throw system_error("socket-option-refused", "dscp: the kernel refused the socket option",
                       errno);
  }
}

/// Binds to a source address of `family`, or to an interface (SO_BINDTODEVICE, socket(7)). Throws
/// NB_INVALID naming `bind` where `source` is neither, NB_FAILED where the kernel refuses.
inline void bind_source(int fd, const std::string& source, int family) {
  if (const auto address = parse_numeric(source, family)) {
    if (::bind(fd, address->get(), address->length) != 0) {
      throw system_error("bind-refused", "bind: source address " + source, errno,
                         "see `ip address` for the addresses of this host");
    }
    return;
  }
  if (if_nametoindex(source.c_str()) == 0) {
    throw invalid("bind",
                  "\"" + source +
                      "\" is neither an address of the peer's family nor an interface "
                      "of this host",
                  "see `ip address`");
  }
  if (::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, source.c_str(),
                   static_cast<socklen_t>(source.size())) != 0) {
    throw system_error("bind-refused", "bind: interface " + source, errno);
  }
}

}  // namespace netbench::sdk
