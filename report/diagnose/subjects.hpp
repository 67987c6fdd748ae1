#pragma once

#include <vector>

#include "report/diagnose/rule.hpp"

namespace netbench::report {

/// The scope that a row belongs to, or nothing for rows that only support others (both ways at
/// once, message rate, connection set-up, failed without a round).
[[nodiscard]] std::optional<Scope> scope_of(const Measurement& row);

/// The rows that a verdict is about: of each transport, scope and direction the one with the fewest
/// tunables asked for, of these at the interface's own MTU, of these the largest message (round
/// trips: the smallest). Of verbs each operation, kind of queue pair and rail has its own. The
/// others are natural experiments around it.
[[nodiscard]] std::vector<const Measurement*> subjects_of(const Document& document);

/// Rows of RDMA verbs that ended with an error, also where some of their rounds did not.
[[nodiscard]] std::vector<const Measurement*> verbs_failures_of(const Document& document);

}  // namespace netbench::report
