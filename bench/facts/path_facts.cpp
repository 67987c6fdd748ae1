#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "bench/facts/addresses.hpp"
#include "bench/facts/collectors.hpp"
#include "bench/facts/device_stack.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kRouteSource = "rtnetlink RTM_GETROUTE";
constexpr const char* kAddressSource = "rtnetlink RTM_GETADDR";

void add_route(Place& place) {
  const auto route =
      place.network.route_to(place.options.peer_address, place.options.local_address);
  if (!route) {
    for (const char* key : {"path.interface", "path.source_address", "path.gateway"}) {
      place.facts.add_unknown(key, kRouteSource, to_text(route.error()));
    }
    return;
  }
  if (place.host.interface.empty()) {
    place.host.interface = route->interface;
  }
  place.next_hop = route->gateway.empty() ? place.options.peer_address : route->gateway;
  FactList& facts = place.facts;
  facts.add("path.interface", route->interface, kRouteSource);
  facts.add("path.gateway", route->gateway.empty() ? "none: on the link" : route->gateway,
            kRouteSource);
  if (route->source_address.empty()) {
    facts.add_unknown("path.source_address", kRouteSource, "the route names none");
  } else {
    facts.add("path.source_address", route->source_address, kRouteSource);
    if (place.host.addresses.empty()) {
      place.host.addresses.push_back(route->source_address);
    }
  }
  if (route->mtu_bytes != 0) {
    facts.add("path.route_mtu_bytes", route->mtu_bytes, kRouteSource);
  }
}

// Whether the peer lies in a prefix of this interface: then no router should be between. Or in one
// of another interface: then a route leads past it.
void add_subnet(Place& place, int index) {
  const auto addresses = place.network.addresses();
  if (!addresses) {
    place.facts.add_unknown("path.same_subnet", kAddressSource, addresses.error().message);
    return;
  }
  const auto peer = parse_ip(place.options.peer_address);
  const std::string tested = place.host.addresses.empty() ? "" : place.host.addresses.front();
  bool inside = false;
  int inside_of_other = 0;
  for (const auto& own : *addresses) {
    const auto network_address = parse_ip(own.address);
    const bool has_peer =
        peer && network_address && in_prefix(*peer, *network_address, own.prefix_length);
    if (own.interface_index != index) {
      inside_of_other = has_peer ? own.interface_index : inside_of_other;
      continue;
    }
    inside = inside || has_peer;
    if (std::ranges::find(place.host.addresses, own.address) == place.host.addresses.end()) {
      place.host.addresses.push_back(own.address);
    }
    if (own.address == tested) {
      place.facts.add("path.prefix_length", std::int64_t{own.prefix_length}, kAddressSource);
    }
  }
  if (peer) {
    place.facts.add("path.same_subnet", inside, kAddressSource);
  }
  const auto other = std::ranges::find(place.links, inside_of_other, &LinkInfo::index);
  if (!inside && other != place.links.end()) {
    place.facts.add("path.subnet_interface", other->name, kAddressSource);
  }
}

/// An address that no host has (RFC 5737): its route is the default one.
constexpr const char* kNowhere = "192.0.2.1";

// Whether the wire is reached from it.
bool reaches_hardware(const Place& place, const LinkInfo& link) {
  return std::ranges::any_of(device_stack(link, place.links),
                             [](const StackedLink& device) { return has_hardware(device.link); });
}

// The interfaces that lead to hardware, what lies on top of it first; in a container, which has
// none, every interface.
std::vector<LinkInfo> interfaces_to_hardware(const Place& place) {
  const auto up = [](const LinkInfo& link) { return !link.loopback && link.admin_up; };
  std::vector<LinkInfo> found;
  std::ranges::copy_if(place.links, std::back_inserter(found), [&](const LinkInfo& link) {
    return up(link) && reaches_hardware(place, link);
  });
  if (found.empty()) {
    std::ranges::copy_if(place.links, std::back_inserter(found), up);
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, [&](const LinkInfo& link) {
    return device_stack(link, place.links).size();
  });
  return found;
}

void add_to_stack(Place& place, const LinkInfo& link) {
  constexpr std::size_t kMostDevices = 64;
  for (auto& device : device_stack(link, place.links)) {
    const bool seen = std::ranges::any_of(place.stack, [&](const StackedLink& known) {
      return known.link.index == device.link.index;
    });
    if (!seen && place.stack.size() < kMostDevices) {
      place.stack.push_back(std::move(device));
    }
  }
}

// The default route's interface first.
void choose_interfaces(Place& place) {
  auto chosen = interfaces_to_hardware(place);
  const auto route = place.network.route_to(kNowhere, {});
  std::ranges::stable_partition(
      chosen, [&](const LinkInfo& link) { return route && link.name == route->interface; });
  for (const auto& link : chosen) {
    add_to_stack(place, link);
  }
  place.host.interface = chosen.empty() ? "" : chosen.front().name;
}

}  // namespace

bool has_hardware(const LinkInfo& link) {
  return !link.loopback && (link.kind.empty() || link.kind == "ipoib");
}

void collect_path(Place& place) {
  place.host.interface = place.options.interface;
  if (!place.options.local_address.empty()) {
    place.host.addresses.push_back(place.options.local_address);
  }
  if (!place.options.peer_address.empty()) {
    add_route(place);
  }
  if (auto links = place.network.links(); links) {
    place.links = std::move(*links);
  }
  if (place.host.interface.empty() && place.options.every_interface) {
    choose_interfaces(place);
  }
  if (place.host.interface.empty()) {
    return;
  }
  const auto link = place.network.link(place.host.interface);
  if (!link) {
    place.facts.add_unknown(fmt::format("if.{}", place.host.interface), "rtnetlink RTM_GETLINK",
                            link.error().message);
    place.stack.clear();
    return;
  }
  if (place.stack.empty()) {
    place.stack = device_stack(*link, place.links);
  }
  add_subnet(place, link->index);
}

}  // namespace netbench::facts
