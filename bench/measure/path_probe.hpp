#pragma once

#include <cstdint>

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"
#include "bench/session/address.hpp"
#include "bench/session/channel.hpp"

namespace netbench::measure {

struct PathQuestion {
  session::SocketAddress agent;
  std::int64_t interface_mtu_bytes = 0;  // of this host's end
};

/// Asks the agent to take part and finds the largest packet that passes each way (at most 9 s).
/// Where UDP is filtered, the answer comes from TCP connections with a stepped MSS.
/// Errors: those of the channel; a path that cannot be probed is an answer with its note.
[[nodiscard]] Result<PathMtu> probe_path(session::Channel& channel, const PathQuestion& question);

}  // namespace netbench::measure
