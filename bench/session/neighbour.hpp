#pragma once

#include "bench/session/address.hpp"

namespace netbench::session {

/// What the kernel knows of the next hop towards an address.
enum class NeighbourState {
  unknown,     // could not be read, or a link without neighbours (loopback, tunnels)
  absent,      // nothing was ever sent there
  reachable,   // answered at layer 2, now or a while ago
  unanswered,  // asked for (ARP, neighbour discovery) without an answer
};

struct Neighbour {
  NeighbourState state = NeighbourState::unknown;
  bool gateway = false;  // the next hop is a router, not the host itself
};

/// Asks the kernel (rtnetlink(7): RTM_GETROUTE, then RTM_GETNEIGH). Never fails: unknown instead.
[[nodiscard]] Neighbour find_neighbour(const SocketAddress& to);

}  // namespace netbench::session
