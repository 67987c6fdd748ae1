#include <fmt/format.h>

#include <algorithm>

#include "bench/facts/collectors.hpp"
#include "bench/facts/device_stack.hpp"
#include "bench/facts/link_parser.hpp"
#include "bench/facts/virtual_drivers.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kLinkSource = "rtnetlink RTM_GETLINK";

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

void add_ethtool(Place& place, const LinkInfo& link, const LinkInfo& lowest) {
  constexpr std::array<std::string_view, 5> kAboutWire{"speed_bps", "speed_max_bps", "duplex",
                                                       "speed_negotiable_bps", "downshift"};
  const auto ethtool = place.network.ethtool_facts(link.name);
  const auto lowest_driver = driver_name(
      lowest, lowest.index == link.index ? ethtool : place.network.ethtool_facts(lowest.name));
  const std::string fiction = why_speed_is_fiction(lowest_driver, in_virtual_machine(place.facts));
  for (Fact fact : ethtool) {
    const bool about_wire = std::ranges::find(kAboutWire, fact.key) != kAboutWire.end();
    if (about_wire && !fiction.empty()) {
      fact.value = {};
      fact.unknown_because = fiction;
    }
    fact.key = fmt::format("if.{}.{}", link.name, fact.key);
    place.facts.append(std::move(fact));
  }
}

/// Adds facts of one interface under its prefix.
class LinkFacts {
 public:
  LinkFacts(FactList& facts, const LinkInfo& link)
      : facts_(facts), prefix_(fmt::format("if.{}.", link.name)) {}

  void add(const char* key, Value value) {
    facts_.add(prefix_ + key, std::move(value), kLinkSource);
  }
  void add_unknown(const char* key, std::string why) {
    facts_.add_unknown(prefix_ + key, kLinkSource, std::move(why));
  }
  void add_limit(const char* key, std::int64_t bytes) {
    bytes == 0 ? add_unknown(key, "the driver names no limit") : add(key, bytes);
  }
  void add_text(const char* key, const std::string& text, const char* why_empty) {
    text.empty() ? add_unknown(key, why_empty) : add(key, text);
  }

 private:
  FactList& facts_;
  std::string prefix_;
};

void add_link(Place& place, const LinkInfo& link) {
  LinkFacts facts(place.facts, link);
  facts.add("mtu_bytes", link.mtu_bytes);
  facts.add_limit("min_mtu_bytes", link.min_mtu_bytes);
  facts.add_limit("max_mtu_bytes", link.max_mtu_bytes);
  facts.add("admin_up", link.admin_up);
  const std::string plain = link.loopback ? "loopback" : "device";
  facts.add("kind", link.kind.empty() ? plain : link.kind);
  link.carrier ? facts.add("carrier", *link.carrier)
               : facts.add_unknown("carrier", "the kernel reports none");
  link.carrier_changes ? facts.add("carrier_changes", *link.carrier_changes)
                       : facts.add_unknown("carrier_changes", "the kernel reports none");
  facts.add_text("qdisc", link.qdisc, "the kernel names none");
  facts.add("txqueuelen", link.queue_packets);
  facts.add("xdp", link.xdp);
  const auto master = std::ranges::find(place.links, link.master_index, &LinkInfo::index);
  if (link.master_index != 0 && master != place.links.end()) {
    facts.add("master", master->name);
  }
}

void add_stack(Place& place, const LinkInfo& link, const std::vector<StackedLink>& stack) {
  LinkFacts facts(place.facts, link);
  facts.add("stack", stack_text(stack));
  for (std::size_t i = 1; i < stack.size(); ++i) {
    facts.add(fmt::format("lower.{}", i - 1).c_str(), stack[i].link.name);
  }
  if (stack.size() > 1) {
    facts.add("on_device", stack.back().link.name);
  }
  const auto vlan =
      std::ranges::find(stack, "vlan", [](const auto& device) { return device.link.kind; });
  if (vlan != stack.end()) {
    facts.add("vlan_id", integer_of(vlan->link.details, "id"));
  }
  if (const auto overhead = tunnel_overhead_bytes(stack); overhead > 0) {
    facts.add("tunnel_overhead_bytes", overhead);
  }
}

}  // namespace

void collect_links(Place& place) {
  for (const auto& [link, level] : place.stack) {
    const auto stack = device_stack(link, place.links);
    add_link(place, link);
    add_stack(place, link, stack);
    add_ethtool(place, link, stack.back().link);
    place.facts.add_integer_file(fmt::format("if.{}.rp_filter", link.name),
                                 fmt::format("/proc/sys/net/ipv4/conf/{}/rp_filter", link.name));
  }
}

}  // namespace netbench::facts
