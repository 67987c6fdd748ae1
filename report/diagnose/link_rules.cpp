#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable link_rules() { return {}; }

}  // namespace netbench::report
