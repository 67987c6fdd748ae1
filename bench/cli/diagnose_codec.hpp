#pragma once

#include <string>
#include <vector>

#include "report/diagnose/diagnose.hpp"

namespace netbench::cli {

struct NamedDiagnosis {
  std::string file;
  report::Diagnosis diagnosis;
};

/// Findings, ranked bounds, the answer of every rule, and the experiments that would decide, of
/// each document: one JSON object with a list under "documents", also of a single one. Newline at
/// the end.
[[nodiscard]] std::string diagnosis_json(const std::vector<NamedDiagnosis>& diagnoses);

}  // namespace netbench::cli
