#pragma once

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"

namespace netbench::report {

/// Refuses numbers that nothing can have counted: counters and times below 0 (a counter that was
/// reset while the round ran gives such a difference), rates and sizes below 0, series that run
/// backwards, tunables below 0, intervals whose lower end is above the upper one; and names of
/// facts, tunables and interfaces that hold what a shell takes for more than a word. Numbers that
/// are not finite count as absent. Errors: `document-implausible`, with the JSON pointer.
[[nodiscard]] Status check_plausible(const Document& document);

}  // namespace netbench::report
