#pragma once

#include <optional>
#include <string>

#include "bench/facts/wire_check.hpp"

namespace netbench::facts {

/// Bytes that came in by RDMA, as a device or an interface counted them, with what they hold beside
/// payload in every packet at least and at most.
struct RdmaBytes {
  double bytes = 0;
  double packets = 0;
  double least_header_bytes = 0;
  double most_header_bytes = 0;
};

/// From a delta: the busiest rail's port_rcv_data (words of 4 bytes; drivers differ in which
/// headers they count), or, of rxe, which has no such counter, its interface's rx_bytes (Ethernet
/// 14, IP 20 or 40, UDP 8, BTH 12, ICRC 4; RETH 16, ImmDt 4, DETH 8 where they stand). Nothing
/// where neither moved.
[[nodiscard]] std::optional<RdmaBytes> rdma_bytes(const Counters& counters,
                                                  const std::string& interface, bool ipv6);

/// Payload received against what was counted; see WireCheck. Nothing where no payload came, or
/// where the counter holds less than 0.9 of it: then it is of another function or port. Pure.
[[nodiscard]] std::optional<WireCheck> check_rdma_wire(double payload_bytes,
                                                       const RdmaBytes& counted);

}  // namespace netbench::facts
