#pragma once

#include <string_view>

namespace netbench {

/// Levels by use: `error` ends something the user asked for; `warning` changes how a result is to
/// be read; `info` is progress a person running the agent wants (clients come and go); `debug` is
/// for developers.
enum class LogLevel { error, warning, info, debug };

/// Messages above this level are dropped. Default: warning. [any-thread]
void set_log_level(LogLevel level);

/// Writes one line "netbench: <text>" to standard error. Standard output carries results only.
/// [any-thread]; never called between start and stop of a batch.
void log(LogLevel level, std::string_view text);

}  // namespace netbench
