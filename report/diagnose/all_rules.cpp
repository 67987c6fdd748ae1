#include <array>

#include "report/diagnose/rule.hpp"

namespace netbench::report {

std::span<const RuleTable> all_rules() {
  static const std::array<RuleTable, 11> kFamilies = {
      connection_rules(), mtu_rules(),  window_rules(),  path_rules(),
      link_rules(),       cpu_rules(),  bus_rules(),     consistency_rules(),
      bond_rules(),       rdma_rules(), standing_rules()};
  return kFamilies;
}

}  // namespace netbench::report
