#include "report/diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/cli/command.hpp"
#include "bench/cli/diagnose_codec.hpp"
#include "bench/cli/diagnose_explain.hpp"
#include "bench/cli/parse.hpp"
#include "bench/cli/text_output.hpp"
#include "report/document/defuse.hpp"
#include "report/document/document.hpp"
#include "report/render/table.hpp"
#include "report/render/verdict.hpp"

namespace netbench::cli {

namespace {

struct DiagnoseOptions {
  std::vector<std::string> files;
  std::string json;
  bool explain = false;
  bool no_color = false;
};

std::optional<int> parse_diagnose(std::span<char* const> words, DiagnoseOptions& options) {
  CommandLine app{
      "Says what limits a measured path: reads result documents, whole or written by hand in\n"
      "parts, and prints the verdict with its evidence, what was ruled out and what to do.",
      "netbench diagnose"};
  app.add_option("file", options.files, "result documents; - is standard input").required();
  app.add_flag("--explain", options.explain,
               "also every finding above level info in full, the ranking of all bounds with their "
               "arithmetic, and why each rule fired or "
               "not");
  app.add_option("--json", options.json,
                 "write findings, bounds, the answer of each rule and deciding experiments to FILE "
                 "(never overwritten) or -")
      .not_empty();
  app.add_flag("--no-color", options.no_color, "plain text (also: NO_COLOR)");
  app.footer(
      "\nExit codes: 0 no problem found (warnings count as none), 3 a finding of severity "
      "problem,\n"
      "4 nothing to judge in a document, 1 a document cannot be read, 2 usage.\n"
      "\nExamples:\n"
      "  netbench diagnose result.json\n"
      "  netbench diagnose --explain result.json\n"
      "  netbench diagnose before.json after.json\n"
      "  netbench diagnose result.json --json diagnosis.json\n"
      "  ssh host2 cat result.json | netbench diagnose -\n");
  return app.parse_or_print(words);
}

ExitClass exit_class_of(const report::Diagnosis& diagnosis) {
  const bool problem = std::ranges::any_of(diagnosis.findings, [](const Finding& finding) {
    return finding.severity == Severity::problem && finding.confidence != Confidence::excluded;
  });
  if (problem) {
    return ExitClass::acceptance_failed;
  }
  return diagnosis.findings.front().id == report::kTooLittle ? ExitClass::nothing_measured
                                                             : ExitClass::passed;
}

/// The graver of two outcomes: an error before a problem, a problem before nothing to judge.
ExitClass graver(ExitClass one, ExitClass other) {
  constexpr std::array kOrder{ExitClass::passed, ExitClass::nothing_measured,
                              ExitClass::acceptance_failed, ExitClass::error, ExitClass::usage};
  return *std::max(std::ranges::find(kOrder, one), std::ranges::find(kOrder, other));
}

class DiagnoseRun {
 public:
  explicit DiagnoseRun(const DiagnoseOptions& options)
      : options_(options),
        color_(wants_color(options.no_color)),
        width_(terminal_width(STDOUT_FILENO)) {}

  [[nodiscard]] ExitClass run() {
    for (const std::string& file : options_.files) {
      diagnose_file(file);
    }
    if (!options_.json.empty() && !done_.empty()) {
      note(write_text(options_.json, diagnosis_json(done_)));
    }
    return result_;
  }

 private:
  void note(const Status& status) {
    if (!status) {
      result_ = graver(result_, static_cast<ExitClass>(report(status.error())));
    }
  }

  void diagnose_file(const std::string& file) {
    auto document = report::read_document(file, {.by_hand = true});
    if (!document) {
      note(tl::unexpected(document.error()));
      return;
    }
    *document = report::defused(std::move(*document));
    report::Diagnosis diagnosis = report::diagnose(*document);
    result_ = graver(result_, exit_class_of(diagnosis));
    if (options_.json != "-") {
      note(print_all(text_of(file, *document, diagnosis)));
    }
    done_.push_back({file, std::move(diagnosis)});
  }

  [[nodiscard]] std::string text_of(const std::string& file, Document& document,
                                    const report::Diagnosis& diagnosis) const {
    document.findings = diagnosis.findings;
    std::string text;
    if (options_.files.size() > 1) {
      text += done_.empty() ? "" : "\n";
      text += report::toned(report::printable(file) + ":", report::Tone::strong, color_) + "\n";
    }
    text += report::verdict_text(document, {color_, width_});
    return options_.explain ? text + report::findings_text(document, {color_, width_}) +
                                  explanation_text(diagnosis, width_, color_)
                            : text;
  }

  const DiagnoseOptions& options_;
  bool color_;
  int width_;
  ExitClass result_ = ExitClass::passed;
  std::vector<NamedDiagnosis> done_;
};

}  // namespace

int run_diagnose(std::span<char* const> words) {
  DiagnoseOptions options;
  if (const auto exit_code = parse_diagnose(words, options)) {
    return *exit_code;
  }
  if (std::ranges::count(options.files, "-") > 1) {
    return report(
        {"usage", "standard input can be read once", "Name \"-\" once.", ExitClass::usage});
  }
  if (const auto possible = check_text_target(options.json); !possible) {
    return report(possible.error());
  }
  return static_cast<int>(DiagnoseRun(options).run());
}

}  // namespace netbench::cli
