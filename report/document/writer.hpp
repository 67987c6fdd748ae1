#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"

namespace netbench::report {

struct WriterOptions {
  bool resume = false;  // FILE or FILE.partial may exist; it is replaced by finish()
};

/// Writes one document to FILE so that nothing measured is lost: while measuring to FILE.partial,
/// each time to a temporary file that is then renamed, at the end to FILE. "-" is standard output;
/// it and existing devices or pipes are written once, by finish(). [control-thread]
class DocumentWriter {
 public:
  /// Before anything is measured. Errors, exit class usage: `output-exists` (FILE or FILE.partial,
  /// unless resume), `output-unwritable` (its directory, or FILE is one).
  [[nodiscard]] static Result<DocumentWriter> create(const std::string& path,
                                                     const WriterOptions& options = {});

  /// Saves what there is so far, unless the last save was too recent: a save that took t is
  /// followed by none for 20 t, at least 1 s, so saving costs at most 5 % of the run. Errors:
  /// `output-full`, `output-failed`; an earlier FILE.partial stays as it was.
  [[nodiscard]] Status write_partial(const Document& document);

  /// As write_partial(), now: before a risky step, on an interrupt.
  [[nodiscard]] Status write_partial_now(const Document& document);

  /// Writes FILE (synced to disk, then renamed) and removes FILE.partial. Errors: `output-full`,
  /// `output-failed`, `output-exists` (FILE appeared meanwhile); FILE.partial then stays.
  [[nodiscard]] Status finish(const Document& document);

  /// True where standard output carries the document, so nothing else may.
  [[nodiscard]] bool is_stdout() const { return path_ == "-"; }
  /// FILE.partial, or empty for a stream.
  [[nodiscard]] std::string partial_path() const;

 private:
  enum class Target { file, stream };

  DocumentWriter(std::string path, Target target, bool replace)
      : path_(std::move(path)), target_(target), replace_(replace) {}

  [[nodiscard]] Status save(const std::string& text, const std::string& to, bool replace) const;

  std::string path_;
  Target target_;
  bool replace_;
  std::int64_t next_partial_ns_ = 0;
};

/// The unfinished document that `--resume` continues: FILE.partial, else FILE where its status is
/// partial, else nothing. Errors: `already-complete` (FILE is finished), and those of
/// read_document().
[[nodiscard]] Result<std::optional<Document>> read_resumable(const std::string& path);

}  // namespace netbench::report
