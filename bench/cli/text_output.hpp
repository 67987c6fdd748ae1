#pragma once

#include <string>

#include "bench/core/result.hpp"

namespace netbench::cli {

/// Columns of the terminal at `fd`; 120 where there is none.
[[nodiscard]] int terminal_width(int fd);

/// Whether standard output takes colour: a terminal, without --no-color and $NO_COLOR.
[[nodiscard]] bool wants_color(bool no_color);

/// Writes to standard output and flushes. Errors: `output-failed`.
[[nodiscard]] Status print_all(const std::string& text);

/// Whether a text file can be written, before anything is done: "" and "-" always can. Errors,
/// class usage: `output-exists`, `output-unwritable`.
[[nodiscard]] Status check_text_target(const std::string& target);

/// Writes to a new file, or to standard output for "-". Errors: `output-unwritable`,
/// `output-failed`.
[[nodiscard]] Status write_text(const std::string& target, const std::string& text);

}  // namespace netbench::cli
