#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// Numbers of a kernel list, "0-3,8" or "0-3+8"; empty where it is none. Pure.
[[nodiscard]] std::vector<int> cpus_of(std::string_view list);

/// A level of `tcp.cpu` that puts the threads of both ends of a row on other CPUs than they had:
/// those that this run may use, of the card's own node where that is known, the quietest first.
/// Nothing where neither end has another one. Pure.
[[nodiscard]] std::optional<std::string> other_cores(const Document& document,
                                                     const Measurement& row);

}  // namespace netbench::report
