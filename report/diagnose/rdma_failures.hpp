#pragma once

#include <initializer_list>
#include <string_view>

#include "report/diagnose/rule.hpp"

/// What the judges of failed verbs rows ask of an error. Private to report/diagnose.
namespace netbench::report {

/// The row's error, cited.
[[nodiscard]] const Error& failure_of(Look& look);
[[nodiscard]] bool begins(const Error& error, std::initializer_list<std::string_view> starts);
/// Silent: the row ended with something else.
[[nodiscard]] Verdict another_error(const Error& error);

}  // namespace netbench::report
