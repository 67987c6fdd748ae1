#include "bench/facts/cable_test.hpp"

#include <fmt/format.h>
#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <array>

namespace netbench::facts {

namespace {

constexpr const char* kSource = "ethtool netlink CABLE_TEST_NTF";
constexpr double kCentimetre = 0.01;

// ETHTOOL_A_CABLE_RESULT_CODE_* of linux/ethtool_netlink.h (Linux 6.11 has them up to 7).
constexpr std::array<const char*, 8> kStatus{"not told",
                                             "ok",
                                             "open",
                                             "short within the pair",
                                             "short to another pair",
                                             "impedance mismatch",
                                             "noise, not tested",
                                             "too short or too long to tell"};

CablePair& pair_named(std::vector<CablePair>& pairs, std::uint8_t number) {
  const char name = number < 4 ? static_cast<char>('a' + number) : '?';
  const auto found = std::ranges::find(pairs, name, &CablePair::name);
  return found != pairs.end() ? *found : pairs.emplace_back(CablePair{name, "not told", {}});
}

void take_results(ByteSpan nest, std::vector<CablePair>& pairs) {
  for (const ByteSpan one : all_attributes(nest, ETHTOOL_A_CABLE_NEST_RESULT)) {
    const auto pair = attribute_number<std::uint8_t>(one, ETHTOOL_A_CABLE_RESULT_PAIR);
    const auto code = attribute_number<std::uint8_t>(one, ETHTOOL_A_CABLE_RESULT_CODE);
    if (pair && code) {
      pair_named(pairs, *pair).status =
          *code < kStatus.size() ? kStatus.at(*code) : fmt::format("result {}", *code);
    }
  }
  for (const ByteSpan one : all_attributes(nest, ETHTOOL_A_CABLE_NEST_FAULT_LENGTH)) {
    const auto pair = attribute_number<std::uint8_t>(one, ETHTOOL_A_CABLE_FAULT_LENGTH_PAIR);
    const auto length = attribute_u32(one, ETHTOOL_A_CABLE_FAULT_LENGTH_CM);
    if (pair && length) {
      pair_named(pairs, *pair).fault_m = kCentimetre * *length;
    }
  }
}

}  // namespace

std::optional<std::vector<CablePair>> parse_cable_test(ByteSpan attributes) {
  const auto status = attribute_number<std::uint8_t>(attributes, ETHTOOL_A_CABLE_TEST_NTF_STATUS);
  if (status != static_cast<std::uint8_t>(ETHTOOL_A_CABLE_TEST_NTF_STATUS_COMPLETED)) {
    return std::nullopt;
  }
  std::vector<CablePair> pairs;
  take_results(find_attribute(attributes, ETHTOOL_A_CABLE_TEST_NTF_NEST), pairs);
  std::ranges::sort(pairs, {}, &CablePair::name);
  return pairs;
}

std::string cable_test_interface(ByteSpan attributes) {
  return attribute_string(find_attribute(attributes, ETHTOOL_A_CABLE_TEST_NTF_HEADER),
                          ETHTOOL_A_HEADER_DEV_NAME);
}

std::vector<Fact> cable_facts(const std::vector<CablePair>& pairs) {
  std::vector<Fact> facts;
  for (const CablePair& pair : pairs) {
    const std::string key = fmt::format("cable.pair_{}", pair.name);
    facts.push_back({key, pair.status, kSource, {}});
    if (pair.fault_m) {
      facts.push_back({key + "_fault_m", *pair.fault_m, kSource, {}});
    }
  }
  return facts;
}

}  // namespace netbench::facts
