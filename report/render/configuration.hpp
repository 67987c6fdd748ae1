#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// The first line: version, both hosts, time, status.
[[nodiscard]] std::string headline(const Document& document);

/// The effective configuration, a line each: what was asked for, the interfaces, and the tunables
/// that were in effect alike in all rows of a transport. `verbose` adds the command line.
[[nodiscard]] std::vector<std::string> configuration_lines(const Document& document, bool verbose);

}  // namespace netbench::report
