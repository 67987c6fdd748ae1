#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/cli/command.hpp"
#include "bench/core/result.hpp"
#include "bench/plan/levels.hpp"

namespace {

using netbench::cli::Command;

constexpr std::array<Command, 6> kCommands{{
    {"pair", "measure the path to another host (or to this one: --peer self)",
     netbench::cli::run_pair},
    {"doctor", "show what both hosts are, and what is wrong before any traffic",
     netbench::cli::run_doctor},
    {"diagnose", "say what limits a measured path, from its result document",
     netbench::cli::run_diagnose},
    {"agent", "answer the measurements of other hosts", netbench::cli::run_agent},
    {"keygen", "make the key that two hosts share", netbench::cli::run_keygen},
    {"transports", "list the transports, their workloads and tunables",
     netbench::cli::run_transports},
}};

std::string usage() {
  std::string text =
      "netbench: measures the network between GPU servers and says what limits it\n\n"
      "Usage: netbench COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  }
  text +=
      "\nExamples:\n"
      "  netbench pair --peer self --quick         try it on one host\n"
      "  netbench keygen                           once, then copy the key to the other host\n"
      "  netbench agent                            on 192.168.1.101\n"
      "  netbench pair --peer 192.168.1.101        on 192.168.1.100\n"
      "  netbench doctor --peer 192.168.1.101      what is wrong before any traffic\n"
      "  netbench diagnose result.json             what limits the path, and what to do\n"
      "\n\"netbench COMMAND --help\" tells more. Exit codes: 0 passed, 1 error, 2 usage,\n"
      "3 acceptance failed, 4 nothing could be measured, 5 partial result, 130 interrupted.\n";
  return text;
}

int unknown_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
  }
  fmt::print(stderr,
             "error[usage]: there is no command \"{}\"{}\n  \"netbench --help\" lists them.\n",
             name, netbench::plan::did_you_mean(name, names));
  return static_cast<int>(netbench::ExitClass::usage);
}

int dispatch(std::span<char* const> words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", usage());
    return static_cast<int>(netbench::ExitClass::usage);
  }
  const std::string_view name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    fmt::print("{}", usage());
    return 0;
  }
  if (name == "--version") {
    fmt::print("netbench {}\n", NETBENCH_VERSION);
    return 0;
  }
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? unknown_command(name) : found->run(words.subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch(std::span<char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "error[internal]: {}\n", failure.what());
    return static_cast<int>(netbench::ExitClass::error);
  }
}
