#pragma once

#include <cstdint>
#include <optional>

#include "bench/session/address.hpp"

namespace netbench::session {

/// An ICMP error (RFC 792, RFC 4443) that answered a connection attempt.
struct IcmpAnswer {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  SocketAddress from{};  // who sent it; its port means nothing
};

/// Makes the kernel keep ICMP errors for a TCP socket that connects (since Linux 5.9; ip(7),
/// IP_RECVERR), or stop that: a connection that stands must survive them.
void keep_icmp_answers(int fd, int family, bool keep);

/// The last ICMP error kept for the socket.
[[nodiscard]] std::optional<IcmpAnswer> read_icmp_answer(int fd);

}  // namespace netbench::session
