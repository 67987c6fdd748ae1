#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "bench/core/result.hpp"

namespace netbench::facts {

/// How an interface keeps classes of traffic apart, by data centre bridging (IEEE 802.1Q, clause 36
/// and annex D; linux/dcbnl.h).
struct FlowControl {
  std::optional<std::uint8_t> pfc_mask;  // bit n: priority n is paused, never dropped
  std::map<int, int> priority_of_dscp;   // from the application table, selector 5
};

/// The answer to DCB_CMD_IEEE_GET behind its dcbmsg: attributes as the kernel sends them. What is
/// not in them stays empty. Pure.
[[nodiscard]] FlowControl parse_flow_control(std::span<const std::uint8_t> attributes);

/// Asks the kernel for an interface of the calling thread's network namespace. Errors: `netlink`,
/// `dcb-unsupported` where the driver has no data centre bridging.
[[nodiscard]] Result<FlowControl> read_flow_control(const std::string& interface);

/// "26:3,48:6": DSCP and priority.
[[nodiscard]] std::string dscp_text(const FlowControl& flow);

}  // namespace netbench::facts
