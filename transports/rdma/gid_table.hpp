#pragma once

#include <string>
#include <vector>

#include "transports/rdma/device.hpp"

/// Where the entries of a PortDescription come from.
namespace netbench::rdma {

/// All entries of the port that are not zero; `length`: of its table.
[[nodiscard]] std::vector<GidEntry> read_gid_table(const Context& context,
                                                   const PortDescription& port, int length,
                                                   const std::string& root);

/// An iWARP port's GID is its MAC address (as the drivers fill it), which leads to the interface;
/// the interface's addresses are what connections are made with.
[[nodiscard]] std::vector<GidEntry> addresses_of_iwarp(const Context& context,
                                                       const PortDescription& port,
                                                       const std::string& root);

}  // namespace netbench::rdma
