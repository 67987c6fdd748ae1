#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable path_rules() { return {}; }

}  // namespace netbench::report
