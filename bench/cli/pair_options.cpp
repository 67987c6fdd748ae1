#include "bench/cli/pair_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string_view>

#include "bench/cli/parse.hpp"
#include "bench/core/units.hpp"
#include "bench/plan/levels.hpp"
#include "bench/plugin/transport.hpp"

namespace netbench::cli {

namespace {

constexpr const char* kFooter =
    "\nLevels: one value, a list \"64K,1M\", or a range \"1K:1M:x4\" (geometric), \"1:9:+2\"\n"
    "(arithmetic); the upper end is always included. Sizes are IEC (K = 1024), rates decimal.\n"
    "\nExamples:\n"
    "  netbench pair --peer self --quick\n"
    "  netbench pair --peer 192.168.1.101 --json result.json\n"
    "  netbench pair --peer 192.168.1.101 --mtu 1500,9000 --tcp.rcvbuf auto,256K,4M\n"
    "  netbench pair --peer 192.168.1.101 --workload latency --size 64 --tcp.wait block,spin\n"
    "  netbench pair --peer [fd00::101]:18550 --transport tcp --direction both\n"
    "  netbench pair --peer 192.168.1.101 --resume --json result.json\n";

constexpr std::int64_t kDiagnoseBudgetNs = 10'000'000'000;
constexpr std::int64_t kDiagnoseShare = 4;  // of a budget that was asked for

/// What is not offered unless it is named: it measures nothing real.
constexpr std::string_view kSimulation = "sim";

/// Raw texts of the options, before they are checked.
struct Texts {
  std::string transports;
  std::string workloads;
  std::string sizes;
  std::string directions;
  std::string mtus;
  std::string profile = "default";
  std::string budget;
  std::string diagnose_budget;
  std::string link_rate;
  std::string precision;
  bool quick = false;
  bool thorough = false;
  std::map<std::string, std::string> tunables;  // by full name
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

/// The value of `--name value` or `--name=value` among the words, before they are parsed.
std::string peek(std::span<char* const> words, std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == name && i + 1 < words.size()) {
      return words[i + 1];
    }
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      return std::string(word.substr(name.size() + 1));
    }
  }
  return {};
}

Result<std::vector<std::string>> choose_transports(std::span<char* const> words,
                                                   const plugin::PluginHost& plugins) {
  const std::string asked = peek(words, "--transport");
  if (!asked.empty()) {
    return split(asked);
  }
  std::vector<std::string> names = plugins.names();
  std::erase(names, kSimulation);
  if (names.empty()) {
    return fail("plugin-missing", "no transport was found",
                "Set NETBENCH_TRANSPORT_PATH to the directory of netbench_transport_*.so.");
  }
  return names;
}

void add_plan_options(CommandLine& app, Texts& texts, PairOptions& options) {
  app.add_option("--transport", texts.transports, "tcp,udp,… (default: all that work here)")
      .group("What to measure");
  app.add_option("--workload", texts.workloads,
                 "latency,bandwidth,… or tcp/latency for one transport (default: all)")
      .group("What to measure");
  app.add_option("--size", texts.sizes, "message sizes, \"64,1K\" or \"1:8M:x4\"")
      .group("What to measure");
  app.add_option("--direction", texts.directions,
                 "forward (this host sends), reverse, both; for streams")
      .group("What to measure");
  app.add_option(
         "--mtu", texts.mtus,
         "interface MTUs, \"1500,9000\": set on both ends where the agent has --allow-knobs, "
         "else emulated by the MSS where that can be")
      .group("What to measure");
  app.add_flag("--force-mtu", options.force_mtu,
               "change the MTU even of the interface of the default route or of an SSH session")
      .group("What to measure");
  app.add_option("--rounds", options.plan.rounds,
                 "how often each point is measured, reconnected (default 5; quick 3)")
      .group("How long");
  app.add_option("--seed", options.plan.seed, "of the order of the points").group("How long");
  app.add_option("--budget", texts.budget, "total time, \"45s\" or \"5m\"").group("How long");
  app.add_option("--diagnose-budget", texts.diagnose_budget,
                 "time for changing one thing and looking again, to find out what limits a row "
                 "(default 10 s, or a quarter of --budget where that is less; 0: none)")
      .group("How long");
  app.add_option("--profile", texts.profile, "quick, default or thorough").group("How long");
  app.add_flag("--quick", texts.quick, "--profile quick").group("How long");
  app.add_flag("--thorough", texts.thorough, "--profile thorough").group("How long");
  app.add_option("--precision", texts.precision,
                 "relative half-width that ends a point early, \"0.01\" (default 1 % of a round "
                 "trip, 0.5 % of a rate)")
      .group("How long");
}

void add_output_options(CommandLine& app, Texts& texts, PairOptions& options) {
  app.add_option("--json", options.json,
                 "write the result document to FILE (never overwritten) or -")
      .not_empty()
      .group("Output");
  app.add_option("--csv", options.csv, "write one row a point to FILE or -")
      .not_empty()
      .group("Output");
  app.add_option("--markdown", options.markdown, "write the tables to FILE or -")
      .not_empty()
      .group("Output");
  app.add_flag("--stream", options.stream, "print each round as a line of JSON when it ends")
      .group("Output");
  app.add_flag("--resume", options.resume, "go on with the unfinished document of --json FILE")
      .group("Output");
  app.add_flag("--redact", options.redact,
               "replace names, addresses and serials in what is written")
      .group("Output");
  app.add_option("--link-rate", texts.link_rate,
                 "rate of the wire, \"10G\", where the interface does not tell the truth")
      .group("Output");
  app.add_option("--link-overhead", options.link_overhead_bytes,
                 "bytes a packet takes beside IP on that wire (default 38, Ethernet; 14 behind a "
                 "token bucket)")
      .group("Output");
  app.add_flag("--ignore-path-mtu", options.ignore_path_mtu,
               "measure even where large packets vanish on the path")
      .group("Output");
  app.add_flag("-q,--quiet", options.quiet, "no progress, no tables").group("Output");
  app.add_flag("-v,--verbose", options.verbose, "more columns and notes").group("Output");
  app.add_flag("--no-color", options.no_color, "plain text (also: NO_COLOR)").group("Output");
}

void add_tunables(CommandLine& app, const plan::TransportSpec& spec, Texts& texts) {
  for (const plan::Tunable& tunable : spec.tunables) {
    const std::string name = tunable.full_name();
    app.add_option("--" + name, texts.tunables[name],
                   fmt::format("{} [{}; default {}]", tunable.help, plan::allowed_values(tunable),
                               plan::to_string(tunable.default_level, tunable.unit)))
        .group(fmt::format("Tunables of {} (levels)", spec.name));
  }
}

Status read_sizes(const Texts& texts, plan::PlanRequest& request) {
  if (!texts.sizes.empty()) {
    auto sizes = plan::parse_sizes(texts.sizes);
    if (!sizes) {
      return tl::unexpected(sizes.error());
    }
    request.sizes = std::move(*sizes);
  }
  if (!texts.mtus.empty()) {
    auto mtus = plan::parse_mtus(texts.mtus);
    if (!mtus) {
      return tl::unexpected(mtus.error());
    }
    request.mtus = std::move(*mtus);
  }
  for (const std::string& text : split(texts.directions)) {
    const auto direction = parse_direction(text);
    if (!direction) {
      return tl::unexpected(direction.error());
    }
    request.directions.push_back(*direction);
  }
  return {};
}

Status read_tunables(const Texts& texts, std::span<const plan::TransportSpec> specs,
                     plan::PlanRequest& request) {
  for (const plan::TransportSpec& spec : specs) {
    for (const plan::Tunable& tunable : spec.tunables) {
      const std::string name = tunable.full_name();
      const auto text = texts.tunables.find(name);
      if (text == texts.tunables.end() || text->second.empty()) {
        continue;
      }
      auto levels = plan::parse_levels(tunable, text->second);
      if (!levels) {
        return tl::unexpected(levels.error());
      }
      request.tunables[name] = std::move(*levels);
    }
  }
  return {};
}

Status read_diagnose_budget(const Texts& texts, PairOptions& options) {
  options.diagnose_budget_ns =
      std::min(kDiagnoseBudgetNs, options.budget_ns.value_or(INT64_MAX) / kDiagnoseShare);
  if (texts.diagnose_budget.empty()) {
    return {};
  }
  const auto budget = parse_duration_ns(texts.diagnose_budget);
  options.diagnose_budget_ns = budget.value_or(0);
  return budget ? Status{} : Status(tl::unexpected(budget.error()));
}

Status read_times(const Texts& texts, PairOptions& options) {
  const std::string profile = texts.quick ? "quick" : texts.thorough ? "thorough" : texts.profile;
  const auto parsed = plan::parse_profile(profile);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  options.plan.profile = *parsed;
  if (!texts.budget.empty()) {
    const auto budget = parse_duration_ns(texts.budget);
    if (!budget || *budget == 0) {
      return budget
                 ? fail("bad-time", "a budget of 0 leaves nothing to measure", {}, ExitClass::usage)
                 : Status(tl::unexpected(budget.error()));
    }
    options.budget_ns = *budget;
  }
  if (!texts.link_rate.empty()) {
    const auto rate = parse_bits_per_second(texts.link_rate);
    if (!rate || *rate == 0) {
      return rate ? fail("bad-rate", "a link rate of 0 carries nothing", {}, ExitClass::usage)
                  : Status(tl::unexpected(rate.error()));
    }
    options.link_rate_bps = static_cast<double>(*rate);
  }
  if (!texts.precision.empty()) {
    options.precision = std::strtod(texts.precision.c_str(), nullptr);
    if (!(options.precision > 0 && options.precision < 1)) {
      return fail("bad-number",
                  fmt::format("\"{}\" is not a precision between 0 and 1", texts.precision), {},
                  ExitClass::usage);
    }
  }
  return {};
}

Status check_outputs(const PairOptions& options) {
  const auto on_stdout = [](const std::string& target) { return target == "-" ? 1 : 0; };
  if (on_stdout(options.json) + on_stdout(options.csv) + on_stdout(options.markdown) +
          (options.stream ? 1 : 0) >
      1) {
    return fail("usage", "standard output can carry one of --json, --csv, --markdown and --stream",
                "Give the others a file.", ExitClass::usage);
  }
  if (options.resume && (options.json.empty() || options.json == "-")) {
    return fail("usage", "--resume needs the file to go on with", "Add --json FILE.",
                ExitClass::usage);
  }
  return {};
}

Result<std::vector<plan::TransportSpec>> load_specs(const std::vector<std::string>& names,
                                                    const plugin::PluginHost& plugins) {
  std::vector<plan::TransportSpec> specs;
  for (const std::string& name : names) {
    auto transport = plugins.load(name);
    if (!transport) {
      transport.error().exit_class = ExitClass::usage;
      return tl::unexpected(transport.error());
    }
    specs.push_back(transport->spec());
  }
  return specs;
}

}  // namespace

void add_connection_options(CommandLine& app, PairOptions& options, bool peer_required) {
  app.add_option("--peer", options.peer, "HOST, HOST:PORT, [v6]:PORT, or self")
      .required(peer_required)
      .group("The other host");
  app.add_option("--witness", options.witness,
                 "another address of the same agent, HOST or HOST:PORT: where --peer does not let "
                 "this host in, it is asked there what it saw of the attempt")
      .not_empty()
      .group("The other host");
  app.add_option("--family", options.family, "4, 6 or any")
      .one_of({"4", "6", "any"})
      .group("The other host");
  app.add_option("--key-file", options.key_file,
                 "the shared key (else $NETBENCH_KEY, else ~/.config/netbench/key)")
      .group("The other host");
  app.add_flag("--insecure", options.insecure, "without a key; the agent must say so too")
      .group("The other host");
  app.add_flag("--no-wait", options.no_wait, "fail at once where the agent serves someone else")
      .group("The other host");
}

Result<ParsedPair> parse_pair(std::span<char* const> words, const plugin::PluginHost& plugins) {
  const auto names = choose_transports(words, plugins);
  const auto specs = names
                         ? load_specs(*names, plugins)
                         : Result<std::vector<plan::TransportSpec>>(tl::unexpected(names.error()));
  if (!specs) {
    return tl::unexpected(specs.error());
  }
  ParsedPair parsed;
  PairOptions& options = parsed.options;
  options.plan.seed = std::random_device{}() % 1'000'000;
  options.transports = *names;
  Texts texts;
  CommandLine app{
      "Measures latency and bandwidth between this host and another over message sizes,\n"
      "buffers and MTU, and writes tables and a result document.",
      "netbench pair"};
  add_connection_options(app, options, true);
  add_plan_options(app, texts, options);
  add_output_options(app, texts, options);
  for (const plan::TransportSpec& spec : *specs) {
    add_tunables(app, spec, texts);
  }
  app.footer(kFooter);
  std::optional<Error> error;
  parsed.exit_code = app.parse(words, error);
  if (error) {
    return tl::unexpected(*error);
  }
  if (parsed.exit_code) {
    return parsed;
  }
  options.plan.workloads = split(texts.workloads);
  options.transports_given = !texts.transports.empty();
  for (const Status& step :
       {read_sizes(texts, options.plan), read_tunables(texts, *specs, options.plan),
        read_times(texts, options), read_diagnose_budget(texts, options), check_outputs(options)}) {
    if (!step) {
      return tl::unexpected(step.error());
    }
  }
  return parsed;
}

std::string json_target(std::span<char* const> words) {
  std::string target = peek(words, "--json");
  return target.starts_with("--") ? std::string() : target;  // the value is missing
}

}  // namespace netbench::cli
