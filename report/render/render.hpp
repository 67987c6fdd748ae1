#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::report {

struct RenderOptions {
  bool color = false;    // ANSI colours; the caller decides by terminal and NO_COLOR
  int width = 120;       // columns; tables that do not fit become one block a row
  bool verbose = false;  // more columns, the full configuration, all notes
};

/// The document for a terminal: effective configuration, one table a workload, notes, findings, a
/// summary in plain words. Pure; every number with its unit, n and interval.
[[nodiscard]] std::string render_text(const Document& document, const RenderOptions& options = {});

/// The same as GitHub-flavoured Markdown.
[[nodiscard]] std::string render_markdown(const Document& document);

/// One row a measurement (RFC 4180), base units, units in the headings; absent values are empty.
[[nodiscard]] std::string render_csv(const Document& document);

}  // namespace netbench::report
