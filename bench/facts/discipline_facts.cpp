#include <fmt/format.h>
#include <linux/pkt_sched.h>

#include <algorithm>
#include <map>

#include "bench/facts/collectors.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kSource = "rtnetlink RTM_GETQDISC";

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? std::optional<double>(*real) : std::nullopt;
}

// Of several disciplines (mq has one a queue, htb one rate a class) the largest number of each
// parameter: what a flow may get at best.
std::map<std::string, Value> largest_parameters(const std::vector<DisciplineInfo>& disciplines) {
  std::map<std::string, Value> largest;
  for (const auto& discipline : disciplines) {
    for (const auto& [name, value] : discipline.parameters) {
      const auto [place, fresh] = largest.emplace(name, value);
      const auto known = number_of(place->second);
      if (const auto number = number_of(value); !fresh && known && number && *number > *known) {
        place->second = value;
      }
    }
  }
  return largest;
}

void add_disciplines(FactList& facts, const LinkInfo& link,
                     const std::vector<DisciplineInfo>& disciplines) {
  const std::string prefix = fmt::format("qdisc.{}.", link.name);
  std::string root = "noqueue";
  std::string ingress = "none";
  std::map<std::string, int> children;
  for (const auto& discipline : disciplines) {
    if (discipline.parent == TC_H_ROOT) {
      root = discipline.kind;
    } else if (discipline.parent == TC_H_INGRESS) {
      ingress = discipline.kind;
    } else {
      ++children[discipline.kind];
    }
  }
  facts.add(prefix + "kind", root, kSource);
  facts.add(prefix + "ingress", ingress, kSource);
  std::string below;
  for (const auto& [kind, count] : children) {
    below += fmt::format("{}{} {}", below.empty() ? "" : ", ", count, kind);
  }
  if (!below.empty()) {
    facts.add(prefix + "children", below, kSource);
  }
  for (auto& [name, value] : largest_parameters(disciplines)) {
    facts.add(prefix + name, value, kSource);
  }
}

}  // namespace

void collect_disciplines(Place& place) {
  for (const auto& device : place.stack) {
    const auto disciplines = place.network.disciplines(device.link);
    if (disciplines) {
      add_disciplines(place.facts, device.link, *disciplines);
    } else {
      place.facts.add_unknown(fmt::format("qdisc.{}.kind", device.link.name), kSource,
                              disciplines.error().message);
    }
  }
}

}  // namespace netbench::facts
