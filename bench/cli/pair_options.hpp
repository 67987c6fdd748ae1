#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/builder.hpp"
#include "bench/plugin/host.hpp"

namespace netbench::cli {

class CommandLine;

/// What the user of `netbench pair` asked for.
struct PairOptions {
  std::string peer;
  std::vector<std::string> transports;
  plan::PlanRequest plan;  // without `transports` and `default_mtus`
  bool transports_given = false;
  std::optional<std::int64_t> budget_ns;
  std::int64_t diagnose_budget_ns = 0;  // for changing one thing to find out what limits a row
  bool force_mtu = false;
  bool ignore_path_mtu = false;
  std::string family = "any";  // any | 4 | 6
  std::string witness;  // another address of the agent: asked what it saw of a failed attempt
  std::string key_file;
  bool insecure = false;
  bool no_wait = false;
  std::optional<double> link_rate_bps;
  int link_overhead_bytes = 0;  // 0: Ethernet's
  double precision = 0;         // 0: 1 % for round trips, 0.5 % for rates
  std::string json;             // FILE, "-", or empty
  std::string csv;
  std::string markdown;
  bool stream = false;
  bool resume = false;
  bool redact = false;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
};

/// Outcome of parsing: options, or the exit code of a command that is over (--help).
struct ParsedPair {
  PairOptions options;
  std::optional<int> exit_code;
};

/// Registers --peer and the options of the connection to it: peer, witness, family, key_file,
/// insecure and no_wait.
void add_connection_options(CommandLine& app, PairOptions& options, bool peer_required);

/// Registers the options of `pair` and the tunables of the transports that the words ask for (all
/// that are found, for --help), and reads the words. Errors: class usage.
[[nodiscard]] Result<ParsedPair> parse_pair(std::span<char* const> words,
                                            const plugin::PluginHost& plugins);

/// The target of --json, so that a usage error can be written there too; "" where there is none.
[[nodiscard]] std::string json_target(std::span<char* const> words);

}  // namespace netbench::cli
