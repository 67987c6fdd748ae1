#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace netbench {

/// A value of a fact, a tunable or a configuration entry. A null (monostate) means "unknown".
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Named numbers under kernel names (`tcp_info.total_retrans`, `if.eth0.rx_bytes`): differences
/// over the window of a round, or totals of its connections.
using Counters = std::map<std::string, double>;

/// Tunables by full name (`tcp.rcvbuf`), values in base units; `auto` as the string "auto".
using ValueMap = std::map<std::string, Value>;

}  // namespace netbench
