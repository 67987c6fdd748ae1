#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/icmp_answer.hpp"
#include "bench/session/neighbour.hpp"

namespace netbench::session {

enum class AddressFamily { any, ipv4, ipv6 };

/// How an attempt to connect ended.
struct ConnectFailure {
  int sys_errno = 0;  // ETIMEDOUT also for this program's own deadline
  Nanoseconds elapsed{};
  Neighbour neighbour{};
  std::optional<IcmpAnswer> icmp{};
  SocketAddress local{};    // this end's address, where one was chosen
  int syn_retransmits = 0;  // times that the first packet was repeated without an answer
};

struct DialOptions {
  std::string host{};
  std::uint16_t port = kDefaultPort;
  AddressFamily family = AddressFamily::any;
  Nanoseconds resolve_limit{};
  Nanoseconds connect_limit{};  // over all addresses of the host
  int cancel_fd = -1;           // readable = give up; -1 = none
  /// Called for every address that did not take the connection.
  std::function<void(const SocketAddress& to, const ConnectFailure&)> on_failure{};
};

/// Addresses of a host. Numeric ones need no network, and none is left out for lack of a configured
/// address (no AI_ADDRCONFIG). Errors: `unknown-host`, naming the EAI code.
[[nodiscard]] Result<std::vector<SocketAddress>> resolve(const DialOptions& options);

/// A TCP connection to the first address of the host that takes one; non-blocking. Errors: those of
/// resolve() and explain_connect(), `cancelled`.
[[nodiscard]] Result<UniqueFd> dial(const DialOptions& options);

/// What a failed connect means: `peer-refused` (a reset came), `peer-rejected` (an ICMP error of a
/// firewall), `peer-unreachable`, `no-route`, `peer-dropped`, `connect-denied` (by this host),
/// `connect-failed`; with the remedy.
[[nodiscard]] Error explain_connect(const SocketAddress& to, const ConnectFailure& failure);

/// Waits until `fd` has one of `events` (poll(2)). False when the deadline passed. Errors:
/// `cancelled`.
[[nodiscard]] Result<bool> wait_for(int fd, short events, const Deadline& deadline, int cancel_fd);

}  // namespace netbench::session
