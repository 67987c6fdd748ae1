#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::report {

/// One line of NDJSON (no newline) for `--stream`, as a round of a point ends: `event: "round"`,
/// id, transport, workload, direction, size_bytes, round index, the headline numbers with their
/// unit in the key, stop_reason, flags.
[[nodiscard]] std::string round_event(const Measurement& measurement, const Round& round);

/// The same for a point that failed or was skipped: `event: "point"`, its status and error.
[[nodiscard]] std::string point_event(const Measurement& measurement);

/// The last line: `event: "finished"`, status and error.
[[nodiscard]] std::string finished_event(const Document& document);

}  // namespace netbench::report
