#include <algorithm>

#include "bench/facts/addresses.hpp"
#include "bench/facts/collectors.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "rtnetlink RTM_GETNEIGH";

// Without the scope that a link-local address may carry.
std::string plain(const std::string& address) { return address.substr(0, address.find('%')); }

}  // namespace

void collect_neighbour(Place& place) {
  if (place.next_hop.empty() || place.stack.empty() || place.stack.front().link.loopback) {
    return;
  }
  FactList& facts = place.facts;
  facts.add("neighbour.address", plain(place.next_hop), "rtnetlink RTM_GETROUTE");
  const auto all = place.network.neighbours();
  if (!all) {
    facts.add_unknown("neighbour.state", kSource, all.error().message);
    return;
  }
  const auto found = std::ranges::find_if(*all, [&](const NeighbourInfo& neighbour) {
    return neighbour.interface_index == place.stack.front().link.index &&
           neighbour.address == plain(place.next_hop);
  });
  if (found == all->end() || found->state.empty()) {
    facts.add_unknown("neighbour.state", kSource, "no entry: nothing was sent to it lately");
    return;
  }
  facts.add("neighbour.state", found->state, kSource);
  if (found->hardware_address.empty()) {
    facts.add_unknown("neighbour.mac", kSource, "it did not answer");
  } else {
    facts.add("neighbour.mac", found->hardware_address, kSource);
  }
}

}  // namespace netbench::facts
