#include "report/diagnose/rule.hpp"

namespace netbench::report {

RuleTable window_rules() { return {}; }

}  // namespace netbench::report
