#include <fmt/format.h>

#include "bench/facts/collectors.hpp"
#include "bench/facts/module_memory.hpp"

namespace netbench::facts {

void collect_modules(Place& place) {
  for (const auto& [link, level] : place.stack) {
    if (!has_hardware(link)) {
      continue;
    }
    const auto memory = place.network.module_memory(link.name);
    if (!memory) {
      place.facts.add_unknown(fmt::format("if.{}.module.kind", link.name),
                              "ethtool netlink MODULE_EEPROM_GET", memory.error().message);
      continue;
    }
    for (Fact fact : module_facts(*memory)) {
      fact.key = fmt::format("if.{}.{}", link.name, fact.key);
      place.facts.append(std::move(fact));
    }
  }
}

}  // namespace netbench::facts
