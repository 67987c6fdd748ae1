#pragma once

#include <string>

#include "bench/cli/connect_watch.hpp"
#include "bench/core/result.hpp"
#include "bench/session/client.hpp"

namespace netbench::cli {

/// What a firewall, a full queue, a filter of routes and a wrong netmask look like is the same to
/// the client; the peer's counters differ. Where its agent can be reached at another address, asks
/// it before and after another attempt to connect as `failed` says, and tells `watch` what it saw.
/// Errors: of the other address, and `witness-is-another-host` where the agent there does not have
/// the address that was tried.
[[nodiscard]] Status ask_witness(const std::string& witness, const session::ConnectOptions& failed,
                                 ConnectWatch& watch);

/// Whether an error of connect_agent() leaves open what only the peer can tell.
[[nodiscard]] bool needs_witness(const Error& error);

}  // namespace netbench::cli
