#pragma once

#include <string_view>
#include <vector>

#include "bench/facts/network_reader.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

/// How a plug-in module orders its memory, by its SFF-8024 identifier.
enum class ModuleFamily { unknown, sff8472, sff8636, cmis };

[[nodiscard]] ModuleFamily module_family(const ModuleMemory& memory);

/// Facts of a module with keys relative to the interface: module.{kind, vendor, part, medium
/// (copper or optical), temperature_c, temperature_max_c, rx_power_dbm, rx_power_min_dbm,
/// tx_power_dbm}; powers are of the weakest lane, the limits those of the module's own alarms. What
/// the module does not tell is unknown with the reason. SFF-8472 rev 12.4, SFF-8636 rev 2.11, CMIS
/// 5.2. Pure; any bytes may come.
[[nodiscard]] std::vector<Fact> module_facts(const ModuleMemory& memory);

}  // namespace netbench::facts
