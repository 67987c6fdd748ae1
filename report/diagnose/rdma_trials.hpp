#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "report/diagnose/look.hpp"

namespace netbench::report {

/// What a change does to a row's goodput: as an intervention showed it, else as the first of the
/// rows does that differ in this tunable alone and have one of these values.
[[nodiscard]] std::optional<double> tried(Look& look, std::string_view experiment,
                                          std::string_view tunable,
                                          std::initializer_list<std::int64_t> values);
[[nodiscard]] std::optional<double> tried(Look& look, std::string_view experiment,
                                          std::string_view tunable, const Value& value);

}  // namespace netbench::report
