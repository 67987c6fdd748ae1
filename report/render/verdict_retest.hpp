#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::report {

/// The peer to name in commands: as it was given, else the responder's address, else "HOST".
[[nodiscard]] std::string peer_of(const Document& document);

/// The command that measures again what a finding is about: the row that its evidence names first,
/// with the tunables that were asked for and that the remedy does not change; else the run's own
/// command line without its outputs.
[[nodiscard]] std::string retest_command(const Document& document, const Finding& finding);

}  // namespace netbench::report
