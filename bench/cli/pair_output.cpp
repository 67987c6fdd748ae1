#include "bench/cli/pair_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "bench/cli/parse.hpp"
#include "bench/cli/text_output.hpp"
#include "bench/core/clock.hpp"
#include "bench/core/log.hpp"
#include "bench/core/units.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/document/redact.hpp"
#include "report/document/stream_event.hpp"
#include "report/render/progress.hpp"
#include "report/render/render.hpp"
#include "report/render/verdict.hpp"

namespace netbench::cli {

namespace {

/// True where standard output carries something for a machine.
bool stdout_is_taken(const PairOptions& options) {
  return options.stream || options.json == "-" || options.csv == "-" || options.markdown == "-";
}

}  // namespace

PairOutput::PairOutput(const PairOptions& options, Document& document)
    : options_(options),
      document_(document),
      progress_(!options.quiet && ::isatty(STDERR_FILENO) == 1),
      color_(wants_color(options.no_color)),
      began_ns_(monotonic_ns()) {}

Result<std::unique_ptr<PairOutput>> PairOutput::create(const PairOptions& options,
                                                       Document& document) {
  std::unique_ptr<PairOutput> output(new PairOutput(options, document));
  if (!options.json.empty()) {
    // What cannot be gone on with must not be written over.
    if (options.resume) {
      if (const auto earlier = report::read_resumable(options.json); !earlier) {
        return tl::unexpected(earlier.error());
      }
    }
    auto writer = report::DocumentWriter::create(options.json, {options.resume});
    if (!writer) {
      return tl::unexpected(writer.error());
    }
    output->writer_ = std::move(*writer);
  }
  for (const std::string& target : {options.csv, options.markdown}) {
    if (auto possible = check_text_target(target); !possible) {
      return tl::unexpected(possible.error());
    }
  }
  return output;
}

void PairOutput::visit_begins(const plan::TestPoint& point, std::size_t done, std::size_t total) {
  done_ = done;
  total_ = total;
  point_ =
      fmt::format("{} {} {}", point.transport, point.workload, format_bytes(point.message_bytes));
  if (point.direction != Direction::none) {
    point_ += " " + to_string(point.direction);
  }
  show_progress();
}

void PairOutput::row_changed(const std::vector<Measurement>& rows, std::size_t index) {
  const Measurement& row = rows[index];
  if (options_.stream) {
    const bool has_round = !row.rounds.empty();
    const Status printed = print_all(
        (has_round ? report::round_event(row, row.rounds.back()) : report::point_event(row)) +
        "\n");
    if (!printed && !write_failure_) {
      ::kill(::getpid(), SIGTERM);  // nobody reads: the run ends in order
    }
    note_write_failure(printed);
  }
  document_.measurements = rows;
  if (!row.rounds.empty()) {
    document_.status = DocumentStatus::partial;
  }
  if (writer_) {
    note_partial_failure(writer_->write_partial(public_document()));
  }
}

void PairOutput::note_write_failure(const Status& written) {
  if (!written && !write_failure_) {
    write_failure_ = written.error();
    clear_progress();
    static_cast<void>(cli::report(written.error()));
  }
}

void PairOutput::note_partial_failure(const Status& written) {
  if (!written && !partial_failed_) {
    partial_failed_ = true;
    clear_progress();
    log(LogLevel::warning, to_text(written.error()));
  }
}

void PairOutput::say(const std::string& text) {
  if (progress_) {
    clear_progress();
    shown_ = text;
    fmt::print(stderr, "{}", text);
  }
}

void PairOutput::show_progress() {
  if (!progress_) {
    return;
  }
  report::ProgressState state;
  state.done_visits = static_cast<std::uint32_t>(done_);
  state.total_visits = static_cast<std::uint32_t>(total_);
  state.current_point = point_;
  state.elapsed_ns = monotonic_ns() - began_ns_;
  say(report::render_progress(state, terminal_width(STDERR_FILENO)));
}

void PairOutput::clear_progress() {
  if (!shown_.empty()) {
    fmt::print(stderr, "\r\033[K");
    shown_.clear();
  }
}

Document PairOutput::public_document() const {
  return options_.redact ? report::redact(document_) : document_;
}

/// The whole report; where nothing was measured the verdict alone, if there is one.
std::string PairOutput::screen_text(const Document& document) const {
  const int width = terminal_width(STDOUT_FILENO);
  if (!document.measurements.empty()) {
    return report::render_text(document, {color_, width, options_.verbose});
  }
  const bool told =
      !document.findings.empty() && document.findings.front().id != report::kTooLittle;
  return told ? report::verdict_text(document, {color_, width}) : std::string();
}

ExitClass PairOutput::finish() {
  clear_progress();
  const Document document = public_document();
  if (!options_.csv.empty()) {
    note_write_failure(write_text(options_.csv, report::render_csv(document)));
  }
  if (!options_.markdown.empty()) {
    note_write_failure(write_text(options_.markdown, report::render_markdown(document)));
  }
  if (options_.stream) {
    note_write_failure(print_all(report::finished_event(document) + "\n"));
  }
  if (!options_.quiet && !stdout_is_taken(options_)) {
    note_write_failure(print_all(screen_text(document)));
  }
  if (writer_) {
    note_write_failure(writer_->finish(document));
  }
  if (document_.error) {
    static_cast<void>(cli::report(*document_.error));
    return document_.error->exit_class;
  }
  return write_failure_ ? write_failure_->exit_class : ExitClass::passed;
}

}  // namespace netbench::cli
