#include "bench/facts/module_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace netbench::facts {

namespace {

constexpr const char* kSource = "ethtool netlink MODULE_EEPROM_GET";

using Memory = std::span<const std::uint8_t>;

struct Identifier {
  std::uint8_t number;
  ModuleFamily family;
  std::string_view name;
};

// SFF-8024, table 4-1.
constexpr std::array kIdentifiers{
    Identifier{0x03, ModuleFamily::sff8472, "SFP"},
    Identifier{0x0C, ModuleFamily::sff8636, "QSFP"},
    Identifier{0x0D, ModuleFamily::sff8636, "QSFP+"},
    Identifier{0x11, ModuleFamily::sff8636, "QSFP28"},
    Identifier{0x18, ModuleFamily::cmis, "QSFP-DD"},
    Identifier{0x19, ModuleFamily::cmis, "OSFP"},
    Identifier{0x1B, ModuleFamily::cmis, "DSFP"},
    Identifier{0x1E, ModuleFamily::cmis, "QSFP with CMIS"},
    Identifier{0x1F, ModuleFamily::cmis, "SFP-DD with CMIS"},
};

const Identifier* identifier_of(const ModuleMemory& memory) {
  if (memory.lower.empty()) {
    return nullptr;
  }
  const auto found = std::ranges::find(kIdentifiers, memory.lower.front(), &Identifier::number);
  return found == kIdentifiers.end() ? nullptr : &*found;
}

std::optional<std::uint16_t> word(Memory memory, std::size_t at) {
  if (at + 1 >= memory.size()) {
    return std::nullopt;
  }
  return static_cast<std::uint16_t>((memory[at] << 8) | memory[at + 1]);
}

bool bit(Memory memory, std::size_t at, unsigned number) {
  return at < memory.size() && ((memory[at] >> number) & 1U) != 0;
}

// All three families: signed, 1/256 degree.
std::optional<double> temperature(Memory memory, std::size_t at) {
  const auto raw = word(memory, at);
  return raw ? std::optional<double>(static_cast<std::int16_t>(*raw) / 256.0) : std::nullopt;
}

// All three families: units of 0.1 uW. No light at all is given as -40 dBm, as below the unit.
constexpr double kDarkDbm = -40;
std::optional<double> power_dbm(Memory memory, std::size_t at) {
  const auto raw = word(memory, at);
  if (!raw) {
    return std::nullopt;
  }
  constexpr double kMilliwattPerUnit = 1e-4;
  return *raw == 0 ? kDarkDbm : 10 * std::log10(*raw * kMilliwattPerUnit);
}

std::optional<double> weakest_lane(Memory memory, std::size_t at, std::size_t lanes) {
  std::optional<double> weakest;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto power = power_dbm(memory, at + 2 * lane);
    weakest = power ? std::min(*power, weakest.value_or(*power)) : weakest;
  }
  return weakest;
}

// Texts are padded with spaces; anything unprintable is left out.
std::string text(Memory memory, std::size_t at, std::size_t length) {
  std::string result;
  for (std::size_t i = at; i < std::min(at + length, memory.size()); ++i) {
    if (memory[i] >= 0x20 && memory[i] < 0x7F) {
      result += static_cast<char>(memory[i]);
    }
  }
  result.erase(result.find_last_not_of(' ') + 1);
  return result;
}

/// What the three families tell, each in its own places.
struct Reading {
  std::string vendor;
  std::string part;
  bool copper = false;
  std::string why_no_monitors;  // "" where the module has them
  std::optional<double> temperature_c;
  std::optional<double> temperature_max_c;
  std::optional<double> rx_dbm;
  std::optional<double> rx_min_dbm;
  std::optional<double> tx_dbm;
};

// SFF-8472: address A0h is `lower`, A2h `monitors`.
Reading read_sff8472(const ModuleMemory& memory) {
  const Memory id = memory.lower;
  const Memory monitors = memory.monitors;
  Reading reading;
  reading.vendor = text(id, 20, 16);
  reading.part = text(id, 40, 16);
  reading.copper = bit(id, 8, 2);  // passive cable; an active one may be optical
  if (!bit(id, 92, 6)) {
    reading.why_no_monitors = "the module has no diagnostic monitoring (SFF-8472, byte 92)";
  } else if (bit(id, 92, 4)) {
    reading.why_no_monitors = "the module is calibrated externally, which is not evaluated";
  } else if (monitors.empty()) {
    reading.why_no_monitors = "the driver does not give address A2h";
  }
  if (!reading.why_no_monitors.empty()) {
    return reading;
  }
  reading.temperature_max_c = temperature(monitors, 0);
  reading.rx_min_dbm = power_dbm(monitors, 34);
  reading.temperature_c = temperature(monitors, 96);
  reading.tx_dbm = power_dbm(monitors, 102);
  reading.rx_dbm = power_dbm(monitors, 104);
  return reading;
}

// SFF-8636: lower page and page 0 in `lower`, page 3 (thresholds) in `limits` from byte 128.
Reading read_sff8636(const ModuleMemory& memory) {
  constexpr std::size_t kLanes = 4;
  constexpr unsigned kFirstCopperTechnology = 0xA;  // byte 147, bits 7-4: copper cables
  const Memory id = memory.lower;
  Reading reading;
  reading.vendor = text(id, 148, 16);
  reading.part = text(id, 168, 16);
  reading.copper = id.size() > 147 && (id[147] >> 4) >= kFirstCopperTechnology;
  reading.temperature_c = temperature(id, 22);
  reading.rx_dbm = weakest_lane(id, 34, kLanes);
  reading.tx_dbm = weakest_lane(id, 50, kLanes);
  reading.temperature_max_c = temperature(memory.limits, 128 - 128);
  reading.rx_min_dbm = power_dbm(memory.limits, 178 - 128);
  return reading;
}

// CMIS: lower page and page 0 in `lower`; page 2 in `limits`, page 0x11 in `monitors`, from 128.
Reading read_cmis(const ModuleMemory& memory) {
  constexpr std::size_t kLanes = 8;
  constexpr std::uint8_t kPassiveCopper = 3;  // byte 85, module media type
  constexpr std::uint8_t kTwistedPair = 5;
  const Memory id = memory.lower;
  Reading reading;
  reading.vendor = text(id, 129, 16);
  reading.part = text(id, 148, 16);
  reading.copper = id.size() > 85 && (id[85] == kPassiveCopper || id[85] == kTwistedPair);
  reading.temperature_c = temperature(id, 14);
  reading.temperature_max_c = temperature(memory.limits, 128 - 128);
  reading.rx_min_dbm = power_dbm(memory.limits, 194 - 128);
  if (memory.monitors.empty()) {
    reading.why_no_monitors = "the module has one page only, without monitors of its lanes";
    return reading;
  }
  reading.tx_dbm = weakest_lane(memory.monitors, 154 - 128, kLanes);
  reading.rx_dbm = weakest_lane(memory.monitors, 186 - 128, kLanes);
  return reading;
}

Reading read_module(ModuleFamily family, const ModuleMemory& memory) {
  return family == ModuleFamily::sff8472   ? read_sff8472(memory)
         : family == ModuleFamily::sff8636 ? read_sff8636(memory)
                                           : read_cmis(memory);
}

Fact number_fact(const char* key, std::optional<double> value, const std::string& why) {
  constexpr double kHundredths = 100;
  if (value && why.empty()) {
    return {key, std::round(*value * kHundredths) / kHundredths, kSource, {}};
  }
  return {key, {}, kSource, why.empty() ? "the module does not tell" : why};
}

Fact text_fact(const char* key, const std::string& value) {
  return {key, value.empty() ? Value{} : Value(value), kSource,
          value.empty() ? "the module leaves it empty" : ""};
}

}  // namespace

ModuleFamily module_family(const ModuleMemory& memory) {
  const Identifier* identifier = identifier_of(memory);
  return identifier == nullptr ? ModuleFamily::unknown : identifier->family;
}

std::vector<Fact> module_facts(const ModuleMemory& memory) {
  const Identifier* identifier = identifier_of(memory);
  if (identifier == nullptr) {
    return {{"module.kind",
             {},
             kSource,
             memory.lower.empty()
                 ? "the module's memory is empty"
                 : fmt::format("identifier {:#04x} is none of SFP, QSFP and CMIS modules",
                               memory.lower.front())}};
  }
  const Reading reading = read_module(identifier->family, memory);
  const std::string dark = reading.copper ? "a copper cable carries no light" : "";
  const std::string why = dark.empty() ? reading.why_no_monitors : dark;
  // Only SFF-8472 keeps its temperature where the powers are.
  const std::string why_temperature =
      identifier->family == ModuleFamily::sff8472 ? reading.why_no_monitors : "";
  return {{"module.kind", std::string(identifier->name), kSource, {}},
          text_fact("module.vendor", reading.vendor),
          text_fact("module.part", reading.part),
          {"module.medium", std::string(reading.copper ? "copper" : "optical"), kSource, {}},
          number_fact("module.temperature_c", reading.temperature_c, why_temperature),
          number_fact("module.temperature_max_c", reading.temperature_max_c, why_temperature),
          number_fact("module.rx_power_dbm", reading.rx_dbm, why),
          number_fact("module.rx_power_min_dbm", reading.rx_min_dbm, why),
          number_fact("module.tx_power_dbm", reading.tx_dbm, why)};
}

}  // namespace netbench::facts
