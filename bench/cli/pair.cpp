#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "bench/cli/command.hpp"
#include "bench/cli/interrupt.hpp"
#include "bench/cli/pair_options.hpp"
#include "bench/cli/pair_output.hpp"
#include "bench/cli/pair_run.hpp"
#include "bench/cli/parse.hpp"
#include "bench/core/clock.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/document/defuse.hpp"
#include "report/document/writer.hpp"

namespace netbench::cli {

namespace {

/// The error of a run that ended early. Rounds that were measured make it partial at worst, and
/// worth going on with.
Error early_end(Error error, bool measured, const std::string& json) {
  if (measured && error.exit_class == ExitClass::nothing_measured) {
    error.exit_class = ExitClass::partial;
  }
  if (measured && !json.empty() && json != "-") {
    error.remedy = "What was measured is kept; the same command with --resume goes on." +
                   (error.remedy.empty() ? "" : "\n  " + error.remedy);
  }
  return error;
}

/// Settles the status of a document whose run ended with `outcome`; `json` is its file.
void settle(Document& document, const Status& outcome, const std::string& json) {
  document.run.finished_utc = utc_now();
  document.error.reset();
  std::size_t measured = 0;
  std::size_t failed = 0;
  for (const Measurement& row : document.measurements) {
    measured += row.rounds.empty() ? 0 : 1;
    failed += row.status == MeasurementStatus::failed ? 1 : 0;
  }
  if (!outcome) {
    document.error = early_end(outcome.error(), measured > 0, json);
    document.status = measured > 0 ? DocumentStatus::partial : DocumentStatus::failed;
    return;
  }
  if (failed == 0) {
    document.status = DocumentStatus::ok;
    return;
  }
  document.status = measured > 0 ? DocumentStatus::partial : DocumentStatus::failed;
  document.error = Error{
      measured > 0 ? "points-failed" : "nothing-measured",
      fmt::format("{} of {} points could not be measured", failed, document.measurements.size()),
      "Each says why in its row.", measured > 0 ? ExitClass::partial : ExitClass::nothing_measured};
}

/// A run that ended before its outputs were open: the error, and a document where one was due.
int refuse(std::span<char* const> words, const Error& error) {
  const std::string target = json_target(words);
  auto writer = target.empty() ? Result<report::DocumentWriter>(tl::unexpected(error))
                               : report::DocumentWriter::create(target);
  if (writer) {
    Document document;
    document.status = DocumentStatus::failed;
    document.error = error;
    document.run.netbench_version = NETBENCH_VERSION;
    document.run.started_utc = utc_now();
    document.run.finished_utc = document.run.started_utc;
    if (const auto written = writer->finish(document); !written) {
      static_cast<void>(report(written.error()));
    }
  }
  return report(error);
}

}  // namespace

int run_pair(std::span<char* const> words) {
  Interrupt interrupt;
  const plugin::PluginHost plugins;
  const auto parsed = parse_pair(words, plugins);
  if (!parsed) {
    return refuse(words, parsed.error());
  }
  if (parsed->exit_code) {
    return *parsed->exit_code;
  }
  const PairOptions& options = parsed->options;
  Document document = new_document(options, words);
  auto output = PairOutput::create(options, document);
  if (!output) {
    return refuse(words, output.error());
  }
  settle(document, run_measurements(options, plugins, interrupt, document, **output), options.json);
  document.findings = report::diagnose(report::defused(document)).findings;
  return static_cast<int>((*output)->finish());
}

}  // namespace netbench::cli
