#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable cpu_rules() { return {}; }

}  // namespace netbench::report
