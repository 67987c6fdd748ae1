#pragma once

#include <string>

#include "report/diagnose/diagnose.hpp"

namespace netbench::cli {

/// How a diagnosis came about: for each judged row the bounds, nearest first, with their
/// arithmetic, and every rule with why it fired or did not; then the experiments that would decide.
[[nodiscard]] std::string explanation_text(const report::Diagnosis& diagnosis, int width,
                                           bool color);

}  // namespace netbench::cli
