#pragma once

#include <optional>

#include "bench/core/clock.hpp"
#include "bench/session/address.hpp"

namespace netbench::session {

/// Whether an ICMP echo request (RFC 792, RFC 4443) to that host is answered within the limit.
/// Nothing where this process may not send one (icmp(7), ping_group_range; or root).
[[nodiscard]] std::optional<bool> answers_ping(const SocketAddress& to, Nanoseconds limit);

}  // namespace netbench::session
