#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// A finding's evidence, what decides first: interventions, errors and the row's goodput; values
/// whose key the cause names, one a name; inputs of bounds and other telling counters, facts; the
/// rest; last progress counters and counters that are 0. Equals keep the finding's order.
[[nodiscard]] std::vector<std::string> ranked_evidence(const Document& document,
                                                       const Finding& finding);

}  // namespace netbench::report
