#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "bench/core/result.hpp"

namespace netbench::cli {

/// Parses the words behind a subcommand's name. Returns an exit code where the command is over:
/// 0 after --help; else nothing was said yet and `error` (class usage) holds why.
[[nodiscard]] std::optional<int> parse(CLI::App& app, std::span<char* const> arguments,
                                       std::optional<Error>& error);

/// As above; prints the error to standard error and returns its exit code.
[[nodiscard]] std::optional<int> parse_or_print(CLI::App& app, std::span<char* const> arguments);

/// Prints an error to standard error and returns its exit code.
[[nodiscard]] int report(const Error& error);

/// The option's value where it was given.
template <class T>
[[nodiscard]] std::optional<T> given(const CLI::Option* option) {
  return option->count() > 0 ? std::optional<T>(option->as<T>()) : std::nullopt;
}

}  // namespace netbench::cli
