#pragma once

#include <string>

namespace netbench::report {

/// The text on one line of at most `width` columns.
[[nodiscard]] std::string shortened(const std::string& text, int width);

/// A command over several lines of about `room` columns, as a shell takes it: broken before
/// options.
[[nodiscard]] std::string continued(const std::string& command, int room);

}  // namespace netbench::report
