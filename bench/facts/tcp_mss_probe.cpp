#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "bench/facts/path_mtu.hpp"

namespace netbench::facts {

namespace {

constexpr std::size_t kEchoBytes = 64 * 1024;
constexpr std::chrono::seconds kStepPatience{1};
/// IP packets: jumbo frames, Ethernet, and what tunnels, IPv6 (RFC 8200) and IPv4 (RFC 9293, 3.7.1)
/// leave at least.
constexpr std::array<std::int64_t, 5> kStepPackets{9000, 1500, 1440, 1280, 576};

// What one step showed.
struct Echo {
  bool sent_all = false;  // acknowledged by the peer's kernel
  bool came_back = false;
  std::int64_t mss_bytes = 0;  // payload of a segment, as the kernel uses it
};

bool try_again(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

// Sends and receives until everything is back, the time is over or the connection breaks.
Echo echo_through(int socket, Deadline until) {
  const std::vector<char> out(kEchoBytes, 'n');
  std::vector<char> in(kEchoBytes);
  std::size_t sent = 0;
  std::size_t received = 0;
  while (received < kEchoBytes && !until.passed()) {
    pollfd wait{socket, static_cast<short>(sent < kEchoBytes ? POLLIN | POLLOUT : POLLIN), 0};
    if (::poll(&wait, 1, until.poll_timeout_ms()) <= 0) {
      continue;
    }
    if (sent < kEchoBytes && (wait.revents & POLLOUT) != 0) {
      const ssize_t put =
          ::send(socket, out.data() + sent, kEchoBytes - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      sent += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    const ssize_t got = ::recv(socket, in.data(), in.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && !try_again(got))) {
      break;
    }
    received += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  int unacknowledged = 0;
  int mss = 0;
  socklen_t length = sizeof(mss);
  ::ioctl(socket, SIOCOUTQ, &unacknowledged);
  ::getsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &mss, &length);
  return {sent == kEchoBytes && unacknowledged == 0, received >= kEchoBytes, mss};
}

// Closes by a reset, which is small: a peer behind a black hole would else wait for data for ever.
void abort_connection(UniqueFd socket) {
  const linger none{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

bool uses_timestamps(int socket) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
         (info.tcpi_options & TCPI_OPT_TIMESTAMPS) != 0;
}

// The inverse of mss_for_mtu().
std::int64_t packet_bytes(std::int64_t mss_bytes, int family, bool timestamps) {
  constexpr std::int64_t kBig = 65535;
  return mss_bytes + kBig - mss_for_mtu(kBig, family, timestamps);
}

// TCP_MAXSEG counts timestamps as payload, so the segments fill packets of these sizes with them
// too.
std::vector<std::int64_t> steps_for(std::int64_t interface_mtu_bytes, int family) {
  std::vector<std::int64_t> steps{mss_for_mtu(interface_mtu_bytes, family, false)};
  for (const auto packet : kStepPackets) {
    if (packet < interface_mtu_bytes) {
      steps.push_back(mss_for_mtu(packet, family, false));
    }
  }
  return steps;
}

}  // namespace

Result<PathMtu> tcp_mss_probe(const EchoConnection& connect, int family,
                              std::int64_t interface_mtu_bytes, Deadline deadline) {
  PathMtu result;
  result.method = kMethodTcp;
  const auto steps = steps_for(interface_mtu_bytes, family);
  bool first_passed = false;
  for (const auto mss_bytes : steps) {
    if (deadline.passed() || (result.forward_bytes != 0 && result.reverse_bytes != 0)) {
      break;
    }
    auto socket = connect(mss_bytes);
    if (!socket) {
      if (mss_bytes == steps.front()) {
        return tl::unexpected(socket.error());
      }
      break;
    }
    const bool timestamps = uses_timestamps(socket->get());
    const auto patience = std::min<Nanoseconds>(kStepPatience, deadline.left());
    const Echo echo = echo_through(socket->get(), Deadline::after(patience));
    abort_connection(std::move(*socket));
    const auto bytes = packet_bytes(echo.mss_bytes, family, timestamps);
    if (result.forward_bytes == 0 && (echo.sent_all || echo.came_back)) {
      result.forward_bytes = bytes;
    }
    first_passed = first_passed || (echo.came_back && mss_bytes == steps.front());
    if (result.reverse_bytes == 0 && echo.came_back) {
      result.reverse_bytes = bytes;
    }
  }
  const bool passes = result.forward_bytes != 0 && result.reverse_bytes != 0;
  result.black_hole = passes && !first_passed;
  result.note =
      passes ? fmt::format("64 KiB pass in TCP packets of {} bytes there, {} back",
                           result.forward_bytes, result.reverse_bytes)
             : fmt::format("64 KiB do not come back in 1 s with an MSS down to {}", steps.back());
  return result;
}

}  // namespace netbench::facts
