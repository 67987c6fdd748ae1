#pragma once

#include <string>

#include "bench/model/facts.hpp"
#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// What a round is compared with.
struct CheckContext {
  const HostInfo& initiator;
  const HostInfo& responder;
  bool same_machine = false;  // both ends share the interface's counters
  std::string transport;      // decides the headers: udp or TCP; verbs: the RDMA port's counters
};

/// Compares the payload of both ends with their interfaces' counters, and looks for load that is
/// not this run's. Sets `wire_disagreement` and the flags `foreign_load` (over 0.3 of a CPU for the
/// time of the round, or over 5 % of the interface's received bytes), `wire_disagreement` (over
/// 1 %) and `steal` (the hypervisor took over 2 % of a CPU).
void check_round(Round& round, const CheckContext& context);

}  // namespace netbench::measure
