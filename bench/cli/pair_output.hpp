#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "bench/cli/pair_options.hpp"
#include "bench/core/result.hpp"
#include "bench/measure/initiator.hpp"
#include "bench/model/document.hpp"
#include "report/document/writer.hpp"

namespace netbench::cli {

/// Everything `pair` writes: the document while it grows, progress on the terminal, lines of
/// --stream, and the tables at the end. [control-thread]
class PairOutput final : public measure::SweepSink {
 public:
  /// Opens the outputs before anything is measured. `document` must outlive this object.
  [[nodiscard]] static Result<std::unique_ptr<PairOutput>> create(const PairOptions& options,
                                                                  Document& document);

  void visit_begins(const plan::TestPoint& point, std::size_t done, std::size_t total) override;
  void row_changed(const std::vector<Measurement>& rows, std::size_t index) override;

  /// A line about what is going on, on a terminal only.
  void say(const std::string& text);

  /// Writes everything in its final form. Returns the exit class of the run: the document's
  /// error's, or that of an output that could not be written.
  [[nodiscard]] ExitClass finish();

 private:
  PairOutput(const PairOptions& options, Document& document);

  void show_progress();
  void clear_progress();
  void note_write_failure(const Status& written);
  /// Not the run's failure yet: finish() tries again. Said once.
  void note_partial_failure(const Status& written);
  [[nodiscard]] std::string screen_text(const Document& document) const;
  [[nodiscard]] Document public_document() const;

  const PairOptions& options_;
  Document& document_;
  std::optional<report::DocumentWriter> writer_;
  std::optional<Error> write_failure_;
  bool partial_failed_ = false;
  bool progress_ = false;  // standard error is a terminal
  bool color_ = false;
  std::string shown_;
  std::string point_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::int64_t began_ns_ = 0;
};

}  // namespace netbench::cli
