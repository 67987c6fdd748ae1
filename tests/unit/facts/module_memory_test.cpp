#include "bench/facts/module_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace netbench::facts {
namespace {

const Fact& fact(const std::vector<Fact>& facts, const std::string& key) {
  static const Fact kNone;
  const auto found = std::ranges::find(facts, "module." + key, &Fact::key);
  EXPECT_NE(found, facts.end()) << key;
  return found == facts.end() ? kNone : *found;
}

void put(std::vector<std::uint8_t>& memory, std::size_t at, unsigned word) {
  memory.at(at) = static_cast<std::uint8_t>(word >> 8U);
  memory.at(at + 1) = static_cast<std::uint8_t>(word);
}

ModuleMemory sfp(std::uint8_t diagnostics) {
  ModuleMemory memory;
  memory.lower.assign(256, ' ');
  memory.lower[0] = 0x03;
  memory.lower[8] = 0;
  memory.lower[92] = diagnostics;
  memory.monitors.assign(128, 0);
  put(memory.monitors, 0, 78 << 8U);
  put(memory.monitors, 34, 63);                // -22.0 dBm
  put(memory.monitors, 96, (37 << 8U) + 128);  // 37.5 C
  put(memory.monitors, 102, 5012);             // -3.0 dBm
  put(memory.monitors, 104, 100);              // -20.0 dBm
  return memory;
}

TEST(ModuleMemory, OfAnSfpIsReadAsSff8472Says) {
  const auto facts = module_facts(sfp(0x60));
  EXPECT_EQ(fact(facts, "kind").value, Value(std::string("SFP")));
  EXPECT_EQ(fact(facts, "temperature_c").value, Value(37.5));
  EXPECT_EQ(fact(facts, "temperature_max_c").value, Value(78.0));
  EXPECT_EQ(fact(facts, "tx_power_dbm").value, Value(-3.0));
  EXPECT_EQ(fact(facts, "rx_power_dbm").value, Value(-20.0));
  EXPECT_EQ(fact(facts, "rx_power_min_dbm").value, Value(-22.01));
}

TEST(ModuleMemory, OfAnSfpWithoutMonitoringSaysSo) {
  const auto facts = module_facts(sfp(0));
  EXPECT_EQ(fact(facts, "rx_power_dbm").value, Value{});
  EXPECT_NE(fact(facts, "rx_power_dbm").unknown_because.find("byte 92"), std::string::npos);
  EXPECT_NE(fact(module_facts(sfp(0x50)), "rx_power_dbm").unknown_because.find("externally"),
            std::string::npos);
}

TEST(ModuleMemory, OfACopperCableHasNoLight) {
  ModuleMemory memory = sfp(0x60);
  memory.lower[8] = 0x04;
  const auto facts = module_facts(memory);
  EXPECT_EQ(fact(facts, "medium").value, Value(std::string("copper")));
  EXPECT_EQ(fact(facts, "rx_power_dbm").unknown_because, "a copper cable carries no light");
}

TEST(ModuleMemory, WithoutAnyLightIsAsDarkAsCanBeTold) {
  ModuleMemory memory = sfp(0x60);
  put(memory.monitors, 104, 0);
  EXPECT_EQ(fact(module_facts(memory), "rx_power_dbm").value, Value(-40.0));
}

ModuleMemory osfp() {
  ModuleMemory memory;
  memory.lower.assign(256, 0);
  memory.lower[0] = 0x19;
  put(memory.lower, 14, 52 << 8U);
  memory.lower[85] = 2;
  memory.limits.assign(128, 0);
  put(memory.limits, 194 - 128, 100);
  memory.monitors.assign(128, 0);
  for (std::size_t lane = 0; lane < 8; ++lane) {
    put(memory.monitors, 154 - 128 + 2 * lane, 10000);
    put(memory.monitors, 186 - 128 + 2 * lane, lane == 5 ? 1000 : 10000);
  }
  return memory;
}

TEST(ModuleMemory, OfCmisGivesTheWeakestOfEightLanes) {
  const auto facts = module_facts(osfp());
  EXPECT_EQ(fact(facts, "kind").value, Value(std::string("OSFP")));
  EXPECT_EQ(fact(facts, "temperature_c").value, Value(52.0));
  EXPECT_EQ(fact(facts, "tx_power_dbm").value, Value(0.0));
  EXPECT_EQ(fact(facts, "rx_power_dbm").value, Value(-10.0));
  EXPECT_EQ(fact(facts, "rx_power_min_dbm").value, Value(-20.0));
}

TEST(ModuleMemory, OfAnUnknownKindIsNamedByItsNumber) {
  const auto facts = module_facts({.lower = {0x42}, .monitors = {}, .limits = {}});
  EXPECT_NE(fact(facts, "kind").unknown_because.find("0x42"), std::string::npos);
  EXPECT_NE(fact(module_facts({}), "kind").unknown_because, "");
}

TEST(ModuleMemory, MayBeCutAnywhereAndHoldAnything) {
  std::mt19937 random(11);
  const auto noise = [&](std::size_t size) {
    std::vector<std::uint8_t> bytes(random() % (size + 1));
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
  };
  for (const int identifier : {0x03, 0x11, 0x19, 0x7F}) {
    for (int i = 0; i < 3000; ++i) {
      ModuleMemory memory{noise(256), noise(128), noise(128)};
      if (!memory.lower.empty()) {
        memory.lower[0] = static_cast<std::uint8_t>(identifier);
      }
      for (const auto& one : module_facts(memory)) {
        EXPECT_EQ(one.value == Value{}, !one.unknown_because.empty()) << one.key;
      }
    }
  }
}

}  // namespace
}  // namespace netbench::facts
