#pragma once

#include <optional>

#include "bench/model/document.hpp"
#include "report/bounds/wire.hpp"

namespace netbench::report {

/// What the user said about the wire; it goes before what the hosts report.
struct CeilingOptions {
  std::optional<double> link_rate_bps{};        // --link-rate
  int overhead_bytes = kEthernetOverheadBytes;  // 14 behind a token bucket
  bool vlan = false;
};

/// The wire's goodput limit for one measurement between two hosts, from their facts
/// (`if.<dev>.speed_bps`, `if.<dev>.mtu_bytes`; the slower end and the smaller MTU count), the
/// measurement's own MTU and effective MSS. Direction both: twice one direction (full duplex).
/// Verbs rows: rdma_wire_ceiling(). Otherwise no value and "unknown, because …".
[[nodiscard]] Ceiling wire_ceiling(const Measurement& measurement, const HostInfo& initiator,
                                   const HostInfo& responder, const CeilingOptions& options = {});

}  // namespace netbench::report
