#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// What a reader of the tables has to know, one paragraph each, only where it applies: failures
/// with their remedy, capped tunables with the sysctl to raise, flags in words, disagreement with
/// the interface counters over 1 %, the harness's own cost over 2 %, path MTU, why the wire's limit
/// is unknown, an unauthenticated run, one machine at both ends.
[[nodiscard]] std::vector<std::string> notes_of(const Document& document);

/// Findings, one paragraph each: severity, cause, confidence, remedies.
[[nodiscard]] std::vector<std::string> finding_texts(const Document& document);

}  // namespace netbench::report
