#pragma once

#include <string>
#include <vector>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// A network reader that answers what a test puts into it.
class FakeNetwork : public NetworkReader {
 public:
  RouteInfo route;
  std::vector<LinkInfo> all_links;
  std::vector<InterfaceAddress> all_addresses;
  std::vector<Fact> ethtool;
  NamedCounts nic;

  Result<RouteInfo> route_to(const std::string& peer, const std::string& /*local*/) override {
    if (route.interface.empty()) {
      return fail("route-lookup", "no route to " + peer);
    }
    return route;
  }
  Result<std::vector<LinkInfo>> links() override { return all_links; }
  Result<LinkInfo> link(const std::string& name) override {
    for (const auto& candidate : all_links) {
      if (candidate.name == name) {
        return candidate;
      }
    }
    return fail("interface-unknown", "no interface " + name);
  }
  Result<std::vector<InterfaceAddress>> addresses() override { return all_addresses; }
  std::vector<Fact> ethtool_facts(const std::string& /*name*/) override { return ethtool; }
  NamedCounts ethtool_statistics(const std::string& /*name*/) override { return nic; }
};

}  // namespace netbench::facts
