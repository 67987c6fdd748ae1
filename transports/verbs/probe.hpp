#pragma once

#include <string>

#include "transports/rdma/verbs_table.hpp"
#include "transports/sdk/host.hpp"

namespace netbench::verbs {

/// Emits what only verbs knows of each rail, under the names of the host facts
/// (`rdma.<rail>.active_mtu_bytes`). Throws NB_UNAVAILABLE with the true reason where no rail can
/// carry traffic: no device, no access to it, no port that is up.
void probe_rails(const rdma::VerbsTable& verbs, const sdk::Sink& sink,
                 const std::string& root = "/");

}  // namespace netbench::verbs
