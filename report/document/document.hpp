#pragma once

#include <cstdint>
#include <string>

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"

namespace netbench::report {

/// What a reader accepts before it says no. The defaults hold a thorough sweep many times over and
/// bound the memory a hostile file can take to about 1 GiB.
struct ReadLimits {
  std::uint64_t max_bytes = std::uint64_t{512} << 20;
  std::uint64_t max_values = std::uint64_t{32} << 20;
  int max_depth = 64;
  /// The document may be written by hand: members (the schema's minor version too) may be missing,
  /// and numbers that cannot be are refused (plausible.hpp).
  bool by_hand = false;
};

/// Reads a document from a file, or from standard input where `path` is "-"; older major versions
/// are upgraded. The text is checked once in bounded memory before anything is built from it.
/// Errors: `document-unreadable`, `document-not-json`, `document-truncated`, `document-too-large`,
/// `document-other-schema`, `document-newer` (names both versions), `document-invalid` (names the
/// JSON pointer), `document-duplicate-key` (names the place), `document-implausible` (by_hand).
[[nodiscard]] Result<Document> read_document(const std::string& path,
                                             const ReadLimits& limits = {});

/// The same for text in memory; `name` stands for it in messages.
[[nodiscard]] Result<Document> parse_document(const std::string& text, const std::string& name,
                                              const ReadLimits& limits = {});

/// The document as text: one JSON object, one measurement or finding a line, newline at the end.
[[nodiscard]] std::string document_text(const Document& document);

}  // namespace netbench::report
