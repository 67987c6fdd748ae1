#pragma once

#include <span>
#include <string_view>

namespace netbench::cli {

/// A subcommand: `arguments` are the words behind its name. Returns the process's exit code.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(std::span<char* const> arguments);
};

[[nodiscard]] int run_pair(std::span<char* const> arguments);
[[nodiscard]] int run_doctor(std::span<char* const> arguments);
[[nodiscard]] int run_diagnose(std::span<char* const> arguments);
[[nodiscard]] int run_agent(std::span<char* const> arguments);
[[nodiscard]] int run_keygen(std::span<char* const> arguments);
[[nodiscard]] int run_transports(std::span<char* const> arguments);

}  // namespace netbench::cli
