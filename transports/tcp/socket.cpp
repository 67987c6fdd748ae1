#include "transports/tcp/socket.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace netbench::tcp {
namespace {

/// Since Linux 5.14; absent from older C libraries.
constexpr int kSoBufLock = 72;
constexpr std::size_t kCongestionNameBytes = 16;  // TCP_CA_NAME_MAX, include/net/tcp.h

int as_int(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, INT32_MAX / 2));
}

/// A peer that is gone is noticed within the stall limit, also on an idle connection.
void watch_peer(int fd) {
  static constexpr int kSeconds = static_cast<int>(kStallLimitNs / 1'000'000'000);
  const int on = 1;
  const int idle = kSeconds / 2;
  const int interval = 1;
  const int probes = kSeconds - idle;
  const unsigned user_timeout_ms = kSeconds * 1000;
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, on, "keep-alive");
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle, "keep-alive");
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval, "keep-alive");
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes, "keep-alive");
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms, "user time-out");
}

/// A blocked call returns after the stall limit, so that its thread can look at the progress.
void limit_blocking(int fd, const Options& options) {
  const timeval limit{kStallLimitNs / 1'000'000'000, 0};
  set_option(fd, SOL_SOCKET, SO_SNDTIMEO, limit, "send time-out");
  if (options.role == NB_INITIATOR && (bit(options.workload) & kPingPongs) != 0) {
    set_option(fd, SOL_SOCKET, SO_RCVTIMEO, limit, "receive time-out");
  }
}

/// An accepted socket inherits a receive buffer that someone locked on the listener; `auto` means
/// that the kernel tunes it.
void unlock_buffers(int fd, const Options& options) {
  constexpr std::uint32_t kSend = 1;
  constexpr std::uint32_t kReceive = 2;
  const std::uint32_t wanted = (options.sndbuf ? kSend : 0) | (options.rcvbuf ? kReceive : 0);
  const auto locked = get_option<std::uint32_t>(fd, SOL_SOCKET, kSoBufLock);
  if (locked && *locked != wanted) {
    (void)try_set(fd, SOL_SOCKET, kSoBufLock, wanted);
  }
}

void set_busy_poll(int fd, std::int64_t busy_poll_ns) {
  const int microseconds = static_cast<int>(busy_poll_ns / 1000);
  if (!try_set(fd, SOL_SOCKET, SO_BUSY_POLL, microseconds)) {
    throw sdk::system_error(
        "socket-option-refused", "busy_poll: the kernel refused SO_BUSY_POLL", errno,
        "run as root, or sysctl -w net.core.busy_read=" + std::to_string(microseconds));
  }
}

}  // namespace

void set_congestion(int fd, const std::string& name) {
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.c_str(),
                   static_cast<socklen_t>(name.size())) == 0) {
    return;
  }
  const bool forbidden = errno == EPERM;
  throw sdk::Error(NB_INVALID, "congestion-unavailable",
                   "congestion: " + name +
                       (forbidden ? " is not allowed to this user" : " is not in this kernel"),
                   forbidden
                       ? "sysctl -w net.ipv4.tcp_allowed_congestion_control=\"… " + name + "\""
                       : "modprobe tcp_" + name,
                   errno);
}

std::string congestion_of(int fd) {
  std::array<char, kCongestionNameBytes + 1> name{};
  socklen_t length = kCongestionNameBytes;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) {
    return {};
  }
  return name.data();
}

void apply_before_connect(int fd, const Options& options) {
  if (options.rcvbuf) {
    set_option(fd, SOL_SOCKET, SO_RCVBUF, as_int(*options.rcvbuf), "rcvbuf");
  }
  if (options.mss) {
    set_option(fd, IPPROTO_TCP, TCP_MAXSEG, static_cast<int>(*options.mss), "mss");
  }
  if (options.congestion) {
    set_congestion(fd, *options.congestion);
  }
}

void apply_connected(int fd, const Options& options) {
  unlock_buffers(fd, options);
  if (options.sndbuf) {
    set_option(fd, SOL_SOCKET, SO_SNDBUF, as_int(*options.sndbuf), "sndbuf");
  }
  if (options.congestion && congestion_of(fd) != *options.congestion) {
    set_congestion(fd, *options.congestion);
  }
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, static_cast<int>(options.nodelay), "nodelay");
  if (options.pacing_bps) {
    set_option(fd, SOL_SOCKET, SO_MAX_PACING_RATE,
               static_cast<std::uint64_t>(*options.pacing_bps / 8), "pacing");
  }
  if (options.busy_poll_ns) {
    set_busy_poll(fd, *options.busy_poll_ns);
  }
  sdk::set_dscp(fd, options.dscp);
  watch_peer(fd);
  limit_blocking(fd, options);
}

Fd make_socket(const Options& options) {
  Fd fd(::socket(options.peer.family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.valid()) {
    if (errno == EMFILE || errno == ENFILE) {
      throw too_many_streams(options.connections(), 0, 0);
    }
    throw sdk::system_error("socket-refused", "making a TCP socket", errno);
  }
  apply_before_connect(fd.get(), options);
  sdk::set_dscp(fd.get(), options.dscp);
  if (options.bind) {
    sdk::bind_source(fd.get(), *options.bind, options.peer.family());
  }
  return fd;
}

sdk::Error too_many_streams(std::int64_t connections, std::int64_t needed, std::int64_t limit) {
  const std::string count = std::to_string(connections);
  if (limit == 0) {
    return {NB_INVALID, "too-many-streams",
            "streams: no file descriptor is left for " + count + " connections",
            "raise the limit (`ulimit -n 65536`) or use fewer streams"};
  }
  return {NB_INVALID, "too-many-streams",
          "streams: " + count + " connections need " + std::to_string(needed) +
              " file descriptors, the limit of this process is " + std::to_string(limit),
          "raise the limit (`ulimit -n " + std::to_string(needed + 64) + "`) or use fewer streams"};
}

sdk::Error connect_error(const Address& peer, int sys_errno) {
  const std::string what = "connecting to " + peer.text();
  switch (sys_errno) {
    case ECONNREFUSED:
      return sdk::system_error("tcp-connect-refused", what, sys_errno,
                               "is the agent still running there?");
    case ETIMEDOUT:
      return {NB_TIMED_OUT, "tcp-connect-timeout", what + ": no answer",
              "a firewall drops the port, or the host is down", sys_errno};
    case ENETUNREACH:
    case EHOSTUNREACH:
      return sdk::system_error("tcp-unreachable", what, sys_errno, "see `ip route get`");
    case EADDRNOTAVAIL:
      return sdk::system_error("tcp-no-source-port", what, sys_errno,
                               "every local port is in use: see net.ipv4.ip_local_port_range");
    default:
      return sdk::system_error("tcp-connect-failed", what, sys_errno);
  }
}

sdk::Error broken_connection(int sys_errno) {
  switch (sys_errno) {
    case 0:
      return {NB_PEER_CLOSED, "tcp-peer-closed", "the peer closed a data connection"};
    case EPIPE:
    case ECONNRESET:
      return {NB_PEER_CLOSED, "tcp-peer-closed",
              "the peer closed a data connection: " + sdk::errno_text(sys_errno), "", sys_errno};
    case EAGAIN:
    case ETIMEDOUT:
      return {NB_TIMED_OUT, "tcp-stalled",
              "no byte moved on a data connection for " +
                  std::to_string(kStallLimitNs / 1'000'000'000) + " s",
              "the peer is stopped, or the link is down", sys_errno};
    default:
      return sdk::system_error("tcp-connection-failed", "a data connection broke", sys_errno);
  }
}

}  // namespace netbench::tcp
