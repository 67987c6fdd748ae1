#pragma once

#include <string>

#include "bench/core/result.hpp"
#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// What a host hangs on besides its default route.
struct Lifeline {
  std::string ssh_connection;  // $SSH_CONNECTION: "client port server port"; "" for none
  std::string peer_address;    // numeric: the other end of a test; "" for none
};

/// Refuses where losing the interface, or anything that lies on it, would lose the host: errors
/// `knob-default-route`, `knob-ssh`, `knob-peer`, which end with `left_alone` ("its MTU is left
/// alone"); and `netlink`.
[[nodiscard]] Status check_lifeline(const LinkInfo& link, const Lifeline& lifeline,
                                    const std::string& left_alone, NetworkReader& network);

}  // namespace netbench::facts
