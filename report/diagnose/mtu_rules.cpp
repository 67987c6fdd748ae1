#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable mtu_rules() { return {}; }

}  // namespace netbench::report
