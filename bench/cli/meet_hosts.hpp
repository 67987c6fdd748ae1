#pragma once

#include <string>

#include "bench/cli/pair_connect.hpp"
#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/model/document.hpp"

namespace netbench::cli {

/// What the agent said of itself beside its facts.
struct AgentOffer {
  int agent_pid = 0;
  std::string knobs_refused_because;  // "" where it can change the MTU
};

/// Collects the facts of both ends at once and puts them into the document as h0 and h1, with
/// run.same_machine. `lldp_wait`: both ends listen so long for the names of their switches. Errors:
/// those of the control channel.
[[nodiscard]] Result<AgentOffer> meet_hosts(PairConnection& pair, Document& document,
                                            Nanoseconds lldp_wait = Nanoseconds(0));

}  // namespace netbench::cli
