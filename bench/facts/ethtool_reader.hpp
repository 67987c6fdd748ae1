#pragma once

#include <string>
#include <vector>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// ioctls of ethtool(8) through a socket of the network namespace in question. What a driver does
/// not support is an unknown fact that says so.
[[nodiscard]] std::vector<Fact> read_ethtool_facts(int socket, const std::string& interface);
[[nodiscard]] NamedCounts read_ethtool_statistics(int socket, const std::string& interface);

}  // namespace netbench::facts
