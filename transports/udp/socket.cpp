#include "transports/udp/socket.hpp"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103  // linux/udp.h, since 4.18
#endif

namespace netbench::udp {

using sdk::set_option;
using sdk::try_set;

namespace {

constexpr std::int64_t kUdpHeaderBytes = 8;
constexpr std::int64_t kIpv4HeaderBytes = 20;
constexpr std::int64_t kIpv6HeaderBytes = 40;
constexpr std::int64_t kIpv6FragmentHeaderBytes = 8;

int get_int(int fd, int level, int name) noexcept {
  return sdk::get_option<int>(fd, level, name).value_or(0);
}

}  // namespace

void apply_options(int fd, const Options& options) {
  if (options.sndbuf) {
    set_option(fd, SOL_SOCKET, SO_SNDBUF, static_cast<int>(*options.sndbuf), "sndbuf");
  }
  if (options.rcvbuf) {
    set_option(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(*options.rcvbuf), "rcvbuf");
  }
  sdk::set_dscp(fd, options.dscp);
  const timeval slice{0, kSliceNs / 1000};
  set_option(fd, SOL_SOCKET, SO_RCVTIMEO, slice, "receive time-out");
  set_option(fd, SOL_SOCKET, SO_SNDTIMEO, slice, "send time-out");
  if (options.receives()) {
    set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1, "receive time stamps");
  }
}

Fd make_socket(const Options& options) {
  Fd fd(::socket(options.peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!fd.valid()) {
    throw sdk::system_error("socket-refused", "making a UDP socket", errno,
                            errno == EMFILE ? "raise `ulimit -n`, or use fewer streams" : "");
  }
  if (options.bind) {
    sdk::bind_source(fd.get(), *options.bind, options.peer.family());
  }
  if (::connect(fd.get(), options.peer.get(), options.peer.length) != 0) {
    throw sdk::system_error("udp-unreachable", "connecting UDP to " + options.peer.text(), errno,
                            "see `ip route get`");
  }
  apply_options(fd.get(), options);
  return fd;
}

std::int64_t path_mtu_bytes(int fd) {
  return family_of(fd) == AF_INET6 ? get_int(fd, IPPROTO_IPV6, IPV6_MTU)
                                   : get_int(fd, IPPROTO_IP, IP_MTU);
}

std::int64_t fragments_per_datagram(std::int64_t payload_bytes, std::int64_t mtu_bytes,
                                    int family) {
  const bool v6 = family == AF_INET6;
  const std::int64_t header = v6 ? kIpv6HeaderBytes : kIpv4HeaderBytes;
  const std::int64_t datagram = payload_bytes + kUdpHeaderBytes;
  if (mtu_bytes <= 0 || datagram + header <= mtu_bytes) {
    return 1;
  }
  const std::int64_t room = mtu_bytes - header - (v6 ? kIpv6FragmentHeaderBytes : 0);
  const std::int64_t per_fragment = room / 8 * 8;
  return per_fragment <= 0 ? 1 : (datagram + per_fragment - 1) / per_fragment;
}

bool enable_gso(int fd, std::int64_t message_bytes) {
  return fragments_per_datagram(message_bytes, path_mtu_bytes(fd), family_of(fd)) == 1 &&
         try_set(fd, IPPROTO_UDP, UDP_SEGMENT, static_cast<int>(message_bytes));
}

void tell_buffer(int fd, const char* name, std::optional<std::int64_t> asked,
                 sdk::EffectiveSink sink) {
  const bool receive = std::strcmp(name, "rcvbuf") == 0;
  const std::int64_t kernel = get_int(fd, SOL_SOCKET, receive ? SO_RCVBUF : SO_SNDBUF);
  if (!asked) {
    sink.number(name, kernel);
    return;
  }
  const std::int64_t given = kernel / 2;  // the kernel doubles what was asked for, socket(7)
  if (given >= *asked) {
    sink.number(name, given);
    return;
  }
  const std::string key = receive ? "net.core.rmem_max" : "net.core.wmem_max";
  sink.capped(
      name, given,
      key + " is " + std::to_string(given) + ": sysctl -w " + key + "=" + std::to_string(*asked));
}

std::uint64_t SocketDrops::read(int fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  const std::scoped_lock lock(mutex_);
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &length) != 0) {
    return total_;
  }
  const std::uint32_t now = info[SK_MEMINFO_DROPS];
  total_ += last_ ? now - *last_ : 0;
  last_ = now;
  return total_;
}

sdk::Error broken_socket(int sys_errno) {
  if (sys_errno == ECONNREFUSED) {
    return {NB_PEER_CLOSED, "udp-peer-closed",
            "the peer's host says that nobody has the UDP port: " + sdk::errno_text(sys_errno), "",
            sys_errno};
  }
  return sdk::system_error("udp-socket-failed", "a UDP data socket failed", sys_errno);
}

}  // namespace netbench::udp
