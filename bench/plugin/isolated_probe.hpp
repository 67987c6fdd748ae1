#pragma once

#include <filesystem>

#include "bench/core/clock.hpp"
#include "bench/plugin/report.hpp"

namespace netbench::plugin {

/// Loads and probes `file` in a child process. Errors in the report: those of load_file(), the
/// plug-in's own, `plugin-crashed`, `plugin-hung`. Call before threads are started.
[[nodiscard]] ProbeReport probe_isolated(const std::filesystem::path& file, Nanoseconds limit);

}  // namespace netbench::plugin
