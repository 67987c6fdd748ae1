#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/neighbour.hpp"

namespace netbench::session {

enum class AddressFamily { any, ipv4, ipv6 };

struct DialOptions {
  std::string host{};
  std::uint16_t port = kDefaultPort;
  AddressFamily family = AddressFamily::any;
  Nanoseconds resolve_limit{};
  Nanoseconds connect_limit{};  // over all addresses of the host
  int cancel_fd = -1;           // readable = give up; -1 = none
};

/// Addresses of a host. Numeric ones need no network, and none is left out for lack of a configured
/// address (no AI_ADDRCONFIG). Errors: `unknown-host`, naming the EAI code.
[[nodiscard]] Result<std::vector<SocketAddress>> resolve(const DialOptions& options);

/// A TCP connection to the first address of the host that takes one; non-blocking. Errors: those of
/// resolve() and explain_connect(), `cancelled`.
[[nodiscard]] Result<UniqueFd> dial(const DialOptions& options);

/// How an attempt to connect ended.
struct ConnectFailure {
  int sys_errno = 0;  // ETIMEDOUT also for this program's own deadline
  Nanoseconds elapsed{};
  Neighbour neighbour;
};

/// What a failed connect means: `peer-refused`, `peer-rejected`, `peer-unreachable`, `no-route`,
/// `peer-dropped`, `connect-denied`, `connect-failed`; with the remedy. Timings as measured on
/// Linux 6.18: a closed port answers at once, an ICMP reject counts after the second SYN (1 s).
[[nodiscard]] Error explain_connect(const SocketAddress& to, const ConnectFailure& failure);

/// Waits until `fd` has one of `events` (poll(2)). False when the deadline passed. Errors:
/// `cancelled`.
[[nodiscard]] Result<bool> wait_for(int fd, short events, const Deadline& deadline, int cancel_fd);

}  // namespace netbench::session
