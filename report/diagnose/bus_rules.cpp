#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable bus_rules() { return {}; }

}  // namespace netbench::report
