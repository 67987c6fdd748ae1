#pragma once

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// Listens on the named interfaces with packet(7) sockets for LLDP frames; see
/// NetworkReader::lldp_frames(). Switches send one every 30 s (IEEE 802.1AB, msgTxInterval).
[[nodiscard]] Result<std::vector<LldpFrame>> listen_for_lldp(const std::vector<std::string>& names,
                                                             Nanoseconds limit);

}  // namespace netbench::facts
