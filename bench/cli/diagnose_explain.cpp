#include "bench/cli/diagnose_explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "bench/core/units.hpp"
#include "report/render/table.hpp"

namespace netbench::cli {

namespace {

using report::Table;
using report::Tone;

std::string about(const std::string& row) {
  return row.empty() ? std::string("hosts and connection") : row;
}

std::string bounds_text(const report::RankedBounds& ranked, int width, bool color) {
  Table table;
  table.title = fmt::format("Bounds of {}", about(ranked.row));
  table.columns = {{"measured", "of limit", false},
                   {"limit", "", false},
                   {"end", "", true},
                   {"bound", "", true},
                   {"arithmetic", "", true}};
  for (const report::Bound& bound : ranked.bounds) {
    const bool known = bound.limit_bps.has_value();
    table.rows.push_back({{known ? fmt::format("{:.1f} %", bound.nearness * 100) : "-",
                           known ? format_bits_per_second(*bound.limit_bps) : "unknown", bound.end,
                           bound.name, bound.arithmetic},
                          known ? Tone::plain : Tone::faint});
  }
  return table_text(std::move(table), width, color);
}

std::string outcome_text(const report::Verdict& verdict) {
  constexpr std::array<std::string_view, 3> kOutcomes{"fires", "no", "unknown"};
  constexpr std::array<std::string_view, 4> kConfidences{"confirmed", "likely", "possible",
                                                         "excluded"};
  const std::string_view outcome = kOutcomes.at(static_cast<std::size_t>(verdict.outcome));
  return verdict.outcome == report::Outcome::fires
             ? fmt::format("{}, {}", outcome,
                           kConfidences.at(static_cast<std::size_t>(verdict.confidence)))
             : std::string(outcome);
}

std::string rules_text(const std::vector<report::Trace>& trace, const std::string& row, int width,
                       bool color) {
  Table table;
  table.title = fmt::format("Rules on {}", about(row));
  table.columns = {
      {"class", "", true}, {"rule", "", true}, {"answer", "", true}, {"why", "", true}};
  for (const report::Trace& one : trace) {
    if (one.row == row) {
      const bool fires = one.verdict.outcome == report::Outcome::fires;
      table.rows.push_back({{one.class_id, one.rule, outcome_text(one.verdict), one.verdict.why},
                            fires ? Tone::warning : Tone::plain});
    }
  }
  return table_text(std::move(table), width, color);
}

std::string experiments_text(const std::vector<report::Experiment>& experiments, int width) {
  std::string text = experiments.empty() ? "" : "\nWould decide\n";
  for (const report::Experiment& experiment : experiments) {
    text += report::wrapped(
                fmt::format("- {} ({}) on {}", experiment.change, experiment.id, experiment.row),
                width, 2) +
            "\n";
  }
  return text;
}

}  // namespace

std::string explanation_text(const report::Diagnosis& diagnosis, int width, bool color) {
  std::string text;
  for (const report::RankedBounds& ranked : diagnosis.bounds) {
    text += "\n" + bounds_text(ranked, width, color);
  }
  std::vector<std::string> rows;
  for (const report::Trace& one : diagnosis.trace) {
    if (std::ranges::find(rows, one.row) == rows.end()) {
      rows.push_back(one.row);
    }
  }
  for (const std::string& row : rows) {
    text += "\n" + rules_text(diagnosis.trace, row, width, color);
  }
  return text + experiments_text(diagnosis.experiments, width);
}

}  // namespace netbench::cli
