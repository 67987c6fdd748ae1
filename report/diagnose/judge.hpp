#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/bounds/limits.hpp"
#include "report/diagnose/rule.hpp"

namespace netbench::report {

/// What all rules of its scope said of one row, or of the hosts.
struct Judged {
  struct Answer {
    const Rule* rule;
    Verdict verdict;
    std::vector<std::string> evidence;
    std::vector<std::string> missing;
  };

  Scope scope = Scope::hosts;
  const Measurement* row = nullptr;
  std::vector<Bound> bounds;
  std::vector<Answer> answers;
};

/// Asks every rule of that scope.
[[nodiscard]] Judged judge(const Document& document, Scope scope, const Measurement* row);

/// Turns answers into confirmed or excluded by the interventions on that row. A limit is excluded
/// where an experiment contradicts it; it is confirmed where it was likely, an experiment moved as
/// it predicts, none contradicts, and no other limit that still stands predicted that too.
void weigh_interventions(const Document& document, Judged& judged);

/// Lowers the confidence of limits where the machine was busy with other work, which alone makes
/// most of the wrong verdicts. Says what was busy, or nothing.
[[nodiscard]] std::optional<std::string> doubt_a_busy_machine(const Document& document,
                                                              Judged& judged);

}  // namespace netbench::report
