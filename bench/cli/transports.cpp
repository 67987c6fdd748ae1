#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/cli/command.hpp"
#include "bench/cli/parse.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/plugin/transport.hpp"

namespace netbench::cli {

namespace {

struct Listed {
  std::string name;
  Result<plugin::Transport> transport;
  plugin::ProbeReport probe;
};

std::string directions_text(const plan::Workload& workload) {
  std::string text;
  for (const Direction direction : workload.directions) {
    text += (text.empty() ? "" : ", ") + to_string(direction);
  }
  return text.empty() ? "-" : text;
}

std::string default_text(const plan::Tunable& tunable) {
  return plan::to_string(tunable.default_level, tunable.unit);
}

void print_text(const Listed& listed) {
  if (!listed.transport) {
    fmt::print("{}: broken: {}\n\n", listed.name, listed.transport.error().message);
    return;
  }
  const plan::TransportSpec& spec = listed.transport->spec();
  const bool available = listed.probe.availability == plugin::Availability::available;
  fmt::print("{} {}: {}\n  {}\n", spec.name, spec.version, spec.summary,
             available ? std::string("available")
                       : fmt::format("unavailable: {}", listed.probe.error.message));
  fmt::print("  workloads\n");
  for (const plan::Workload& workload : spec.workloads) {
    fmt::print("    {:<18}{} [{}; directions: {}]\n", workload.name, workload.summary,
               plan::to_string(workload.pattern), directions_text(workload));
  }
  fmt::print("  tunables\n");
  for (const plan::Tunable& tunable : spec.tunables) {
    fmt::print("    {:<18}{} [{}; default {}]\n", tunable.full_name(), tunable.help,
               plan::allowed_values(tunable), default_text(tunable));
  }
  fmt::print("\n");
}

void print_markdown(const Listed& listed) {
  if (!listed.transport) {
    return;
  }
  const plan::TransportSpec& spec = listed.transport->spec();
  fmt::print(
      "### {}\n\n{}\n\n| workload | measures | pattern | directions | sizes by default |\n"
      "|---|---|---|---|---|\n",
      spec.name, spec.summary);
  for (const plan::Workload& workload : spec.workloads) {
    fmt::print("| `{}` | {} | {} | {} | {} |\n", workload.name, workload.summary,
               plan::to_string(workload.pattern), directions_text(workload),
               workload.default_sizes);
  }
  fmt::print("\n| tunable | what it does | values | default | scope |\n|---|---|---|---|---|\n");
  for (const plan::Tunable& tunable : spec.tunables) {
    fmt::print("| `--{}` | {} | {} | {} | {} |\n", tunable.full_name(), tunable.help,
               plan::allowed_values(tunable), default_text(tunable),
               plan::to_string(tunable.scope));
  }
  fmt::print("\n");
}

}  // namespace

int run_transports(std::span<char* const> arguments) {
  CommandLine app{
      "Lists each transport with its workloads and tunables, or the reason why it is unavailable.",
      "netbench transports"};
  bool markdown = false;
  std::vector<std::string> names;
  app.add_option("name", names, "only these (default: all)");
  app.add_flag("--markdown", markdown, "as Markdown tables");
  app.footer(
      "\nExamples:\n"
      "  netbench transports\n"
      "  netbench transports tcp udp --markdown\n");
  if (const auto exit_code = app.parse_or_print(arguments)) {
    return *exit_code;
  }
  const plugin::PluginHost host;
  std::vector<Listed> all;
  if (names.empty()) {
    names = host.names();
  }
  for (const std::string& name : names) {
    // Probed first, in a child: a plug-in that crashes when it is loaded must not end the list.
    plugin::ProbeReport probe = host.probe_isolated(name);
    auto transport = probe.availability == plugin::Availability::broken
                         ? Result<plugin::Transport>(tl::unexpected(probe.error))
                         : host.load(name);
    all.push_back({name, std::move(transport), std::move(probe)});
  }
  if (all.empty()) {
    return report({"plugin-missing", "no transport was found",
                   "Set NETBENCH_TRANSPORT_PATH to the directory of netbench_transport_*.so.",
                   ExitClass::error});
  }
  for (const Listed& listed : all) {
    markdown ? print_markdown(listed) : print_text(listed);
  }
  return 0;
}

}  // namespace netbench::cli
