#include <fmt/format.h>

#include <algorithm>

#include "bench/facts/collectors.hpp"
#include "bench/facts/device_stack.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "rtnetlink IFLA_INFO_DATA of bond";
constexpr const char* kMemberSource = "rtnetlink IFLA_INFO_SLAVE_DATA of bond";

void add_bond(Place& place, const LinkInfo& bond) {
  const std::string prefix = fmt::format("bond.{}.", bond.name);
  for (const auto& [name, value] : bond.details) {
    const auto active = std::ranges::find_if(place.links, [&](const LinkInfo& link) {
      return value == Value(std::int64_t{link.index});
    });
    if (name == "active_index" && active != place.links.end()) {
      place.facts.add(prefix + "active_member", active->name, kSource);
    } else if (name != "active_index") {
      place.facts.add(prefix + name, value, kSource);
    }
  }
  std::string members;
  for (const auto& member : devices_below(bond, place.links)) {
    members += (members.empty() ? "" : ",") + member.name;
    const std::string member_prefix = prefix + member.name + ".";
    for (const auto& [name, value] : member.member_details) {
      place.facts.add(member_prefix + name, value, kMemberSource);
    }
    if (const Fact* speed = place.facts.find(fmt::format("if.{}.speed_bps", member.name));
        speed != nullptr) {
      Fact copy = *speed;
      copy.key = member_prefix + "speed_bps";
      place.facts.append(std::move(copy));
    }
  }
  place.facts.add(prefix + "members", members.empty() ? "none" : members, kMemberSource);
}

}  // namespace

void collect_bonds(Place& place) {
  for (const auto& device : place.stack) {
    if (device.link.kind == "bond") {
      add_bond(place, device.link);
    }
  }
}

}  // namespace netbench::facts
