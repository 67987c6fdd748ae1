#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable bond_rules() { return {}; }

}  // namespace netbench::report
