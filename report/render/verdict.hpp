#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::report {

struct VerdictOptions {
  bool color = false;  // the sentence in bold; the caller decides by terminal and NO_COLOR
  int width = 120;     // columns
};

/// The findings of a diagnosed document on one screen (about 25 lines): the first as the verdict,
/// with how sure it is, its evidence in values of the document, what was tried and ruled out, the
/// commands of its remedy and the command that tests again; the others with their first command,
/// those of level info last and a line each. "" for a document without findings. Pure.
[[nodiscard]] std::string verdict_text(const Document& document,
                                       const VerdictOptions& options = {});

/// Every finding above level info, in full: cause, class, how sure, all evidence with values and
/// the commands of its remedy. Pure.
[[nodiscard]] std::string findings_text(const Document& document,
                                        const VerdictOptions& options = {});

}  // namespace netbench::report
