#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/connect_watch.hpp"
#include "bench/cli/local_agent.hpp"
#include "bench/cli/pair_options.hpp"
#include "bench/core/result.hpp"
#include "bench/plugin/host.hpp"
#include "bench/session/client.hpp"

namespace netbench::cli {

/// A served connection to the agent of a pair; for `--peer self` also that agent, which ends last.
struct PairConnection {
  std::optional<LocalAgent> own_agent;
  session::AgentConnection agent;
};

/// Finds the key, starts the agent of `--peer self`, connects, waits in the agent's queue and
/// compares the transports that will be used; `watch` sees the addresses that fail. `cancel_fd`
/// readable: gives up with `cancelled`. Errors: those of load_key(), connect_agent(),
/// compare_plugins() and LocalAgent::start().
[[nodiscard]] Result<PairConnection> connect_pair(const PairOptions& options,
                                                  const plugin::PluginHost& plugins,
                                                  const std::vector<std::string>& transports,
                                                  ConnectWatch& watch, int cancel_fd);

}  // namespace netbench::cli
