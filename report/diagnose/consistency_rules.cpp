#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable consistency_rules() { return {}; }

}  // namespace netbench::report
