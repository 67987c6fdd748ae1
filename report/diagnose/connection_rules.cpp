#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable connection_rules() { return {}; }

}  // namespace netbench::report
