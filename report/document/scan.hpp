#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"
#include "report/document/document.hpp"

namespace netbench::report {

struct SchemaVersion {
  int major = 0;
  int minor = 0;
};

/// Reads a JSON text once without building anything from it, in bounded memory: whether it is JSON
/// at all and whole, inside the limits, a netbench result, and of which version. `name` stands for
/// the text in messages. Errors: those of read_document() but `document-unreadable` and
/// `document-invalid`; a major version above ours is `document-newer`.
[[nodiscard]] Result<SchemaVersion> scan_document(std::istream& text, const std::string& name,
                                                  const ReadLimits& limits);
[[nodiscard]] Result<SchemaVersion> scan_document(std::string_view text, const std::string& name,
                                                  const ReadLimits& limits);

}  // namespace netbench::report
