#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "report/diagnose/diagnose.hpp"

namespace netbench::report {

/// The experiment of that id on a row, or nothing where it would change nothing there (its tunable
/// was asked for already, or has no larger value). `document`: the row's, with its hosts.
[[nodiscard]] std::optional<Experiment> experiment_on(std::string_view id, const Measurement& row,
                                                      const Document& document);

/// A fired limit of a row, with its rule.
struct Hypothesis {
  const Rule* rule;
  const Verdict* verdict;
};

/// What would tell these hypotheses of one row apart, most telling first: experiments for which
/// they predict different outcomes go before those that only one of them predicts.
[[nodiscard]] std::vector<Experiment> deciding(std::span<const Hypothesis> hypotheses,
                                               const Measurement& row, const Document& document);

enum class Shown { not_run, moves, stays, contradicts, undecided };

/// What an intervention says about a prediction: contradicts where its whole interval is outside;
/// where it is inside, moves for a change that is told from none, stays where none was predicted.
[[nodiscard]] Shown shown(const Prediction& prediction, const Intervention* moved);

}  // namespace netbench::report
