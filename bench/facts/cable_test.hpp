#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/facts/rtnetlink.hpp"
#include "bench/model/facts.hpp"

namespace netbench::facts {

/// One pair of a twisted-pair cable as the PHY measured it by time-domain reflectometry.
struct CablePair {
  char name = '?';                // a … d
  std::string status;             // ok, open, short within the pair, short to another pair …
  std::optional<double> fault_m;  // how far away the fault is
};

/// Pairs of an ETHTOOL_MSG_CABLE_TEST_NTF notice's attributes; nothing while the test still runs.
/// Pure.
[[nodiscard]] std::optional<std::vector<CablePair>> parse_cable_test(ByteSpan attributes);

/// Name of the interface that such a notice is about, "" where it names none. Pure.
[[nodiscard]] std::string cable_test_interface(ByteSpan attributes);

/// `cable.pair_a` (text) and `cable.pair_a_fault_m`, keys relative to the interface. Pure.
[[nodiscard]] std::vector<Fact> cable_facts(const std::vector<CablePair>& pairs);

}  // namespace netbench::facts
