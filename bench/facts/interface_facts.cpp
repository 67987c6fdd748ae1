#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/facts/addresses.hpp"
#include "bench/facts/collectors.hpp"
#include "bench/facts/virtual_drivers.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kLinkSource = "rtnetlink RTM_GETLINK";
constexpr const char* kRouteSource = "rtnetlink RTM_GETROUTE";

bool in_virtual_machine(const FactList& facts) {
  const Fact* fact = facts.find("host.virtual_machine");
  return fact != nullptr && fact->value == Value(true);
}

std::string driver_name(const LinkInfo& link, const std::vector<Fact>& ethtool) {
  if (link.loopback) {
    return "lo";
  }
  const auto driver = std::ranges::find(ethtool, "driver", &Fact::key);
  const auto* name = driver == ethtool.end() ? nullptr : std::get_if<std::string>(&driver->value);
  // A veth, bridge … is known by its kind; the ethtool name of some differs ("802.1Q VLAN
  // Support").
  return name == nullptr || !why_speed_is_fiction(link.kind, false).empty() ? link.kind : *name;
}

// The device whose wire it is: a VLAN or macvlan sits on another interface of this namespace.
LinkInfo device_below(LinkInfo link, const std::vector<LinkInfo>& all) {
  constexpr int kDeepest = 4;
  for (int depth = 0; depth < kDeepest && link.kind != "veth" && link.lower_index != 0; ++depth) {
    const auto lower = std::ranges::find(all, link.lower_index, &LinkInfo::index);
    if (lower == all.end() || lower->index == link.index) {
      break;
    }
    link = *lower;
  }
  return link;
}

void add_ethtool(FactList& facts, const LinkInfo& link, const LinkInfo& lowest,
                 NetworkReader& network) {
  const auto ethtool = network.ethtool_facts(link.name);
  const auto lowest_driver = driver_name(
      lowest, lowest.index == link.index ? ethtool : network.ethtool_facts(lowest.name));
  const std::string fiction = why_speed_is_fiction(lowest_driver, in_virtual_machine(facts));
  for (Fact fact : ethtool) {
    const bool about_wire = fact.key == "speed_bps" || fact.key == "duplex";
    if (about_wire && !fiction.empty()) {
      fact.value = {};
      fact.unknown_because = fiction;
    }
    fact.key = fmt::format("if.{}.{}", link.name, fact.key);
    facts.append(std::move(fact));
  }
}

void add_limit(FactList& facts, const std::string& key, std::int64_t bytes) {
  if (bytes == 0) {
    facts.add_unknown(key, kLinkSource, "the driver names no limit");
  } else {
    facts.add(key, bytes, kLinkSource);
  }
}

void add_link(FactList& facts, const LinkInfo& link, const LinkInfo& lowest) {
  const std::string prefix = fmt::format("if.{}.", link.name);
  facts.add(prefix + "mtu_bytes", link.mtu_bytes, kLinkSource);
  add_limit(facts, prefix + "min_mtu_bytes", link.min_mtu_bytes);
  add_limit(facts, prefix + "max_mtu_bytes", link.max_mtu_bytes);
  facts.add(prefix + "admin_up", link.admin_up, kLinkSource);
  const std::string plain = link.loopback ? "loopback" : "device";
  facts.add(prefix + "kind", link.kind.empty() ? plain : link.kind, kLinkSource);
  if (link.carrier) {
    facts.add(prefix + "carrier", *link.carrier, kLinkSource);
  } else {
    facts.add_unknown(prefix + "carrier", kLinkSource, "the kernel reports none");
  }
  if (link.qdisc.empty()) {
    facts.add_unknown(prefix + "qdisc", kLinkSource, "the kernel names none");
  } else {
    facts.add(prefix + "qdisc", link.qdisc, kLinkSource);
  }
  if (lowest.index != link.index) {
    facts.add(prefix + "on_device", lowest.name, kLinkSource);
  }
}

// Whether the peer lies in a prefix of this interface: then no router is between.
void add_subnet(FactList& facts, HostInfo& host, const CollectOptions& options, int index,
                NetworkReader& network) {
  const auto addresses = network.addresses();
  if (!addresses) {
    facts.add_unknown("path.same_subnet", "rtnetlink RTM_GETADDR", addresses.error().message);
    return;
  }
  const auto peer = parse_ip(options.peer_address);
  bool inside = false;
  for (const auto& own : *addresses) {
    if (own.interface_index != index) {
      continue;
    }
    const auto network_address = parse_ip(own.address);
    inside = inside ||
             (peer && network_address && in_prefix(*peer, *network_address, own.prefix_length));
    if (std::ranges::find(host.addresses, own.address) == host.addresses.end()) {
      host.addresses.push_back(own.address);
    }
  }
  if (peer) {
    facts.add("path.same_subnet", inside, "rtnetlink RTM_GETADDR");
  }
}

void add_route(FactList& facts, HostInfo& host, const CollectOptions& options,
               NetworkReader& network) {
  const auto route = network.route_to(options.peer_address, options.local_address);
  if (!route) {
    for (const char* key : {"path.interface", "path.source_address", "path.gateway"}) {
      facts.add_unknown(key, kRouteSource, to_text(route.error()));
    }
    return;
  }
  if (host.interface.empty()) {
    host.interface = route->interface;
  }
  facts.add("path.interface", route->interface, kRouteSource);
  facts.add("path.gateway", route->gateway.empty() ? "none: on the link" : route->gateway,
            kRouteSource);
  if (route->source_address.empty()) {
    facts.add_unknown("path.source_address", kRouteSource, "the route names none");
  } else {
    facts.add("path.source_address", route->source_address, kRouteSource);
    if (host.addresses.empty()) {
      host.addresses.push_back(route->source_address);
    }
  }
  if (route->mtu_bytes != 0) {
    facts.add("path.route_mtu_bytes", route->mtu_bytes, kRouteSource);
  }
}

}  // namespace

void collect_interface(FactList& facts, HostInfo& host, const CollectOptions& options,
                       NetworkReader& network) {
  host.interface = options.interface;
  if (!options.local_address.empty()) {
    host.addresses.push_back(options.local_address);
  }
  if (!options.peer_address.empty()) {
    add_route(facts, host, options, network);
  }
  if (host.interface.empty()) {
    return;
  }
  const auto links = network.links();
  const auto link = network.link(host.interface);
  if (!link) {
    facts.add_unknown(fmt::format("if.{}", host.interface), kLinkSource, link.error().message);
    return;
  }
  const LinkInfo lowest = device_below(*link, links ? *links : std::vector<LinkInfo>{});
  add_subnet(facts, host, options, link->index, network);
  add_link(facts, *link, lowest);
  add_ethtool(facts, *link, lowest, network);
  collect_slot(facts, lowest);
}

}  // namespace netbench::facts
