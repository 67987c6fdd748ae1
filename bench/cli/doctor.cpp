#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/command.hpp"
#include "bench/cli/doctor_cable.hpp"
#include "bench/cli/doctor_judge.hpp"
#include "bench/cli/doctor_text.hpp"
#include "bench/cli/meet_hosts.hpp"
#include "bench/cli/pair_run.hpp"
#include "bench/cli/parse.hpp"
#include "bench/cli/text_output.hpp"
#include "bench/core/clock.hpp"
#include "bench/core/units.hpp"
#include "bench/facts/addresses.hpp"
#include "bench/facts/host_facts.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/recorded_network.hpp"
#include "bench/facts/text_files.hpp"
#include "bench/session/address.hpp"
#include "report/document/redact.hpp"
#include "report/document/writer.hpp"
#include "report/render/verdict.hpp"

namespace netbench::cli {

namespace {

struct DoctorOptions {
  PairOptions connection;
  std::vector<std::string> roots;
  std::vector<std::string> towards;
  std::string interface;
  std::string lldp;
  Nanoseconds lldp_wait{0};
  std::string cable_test;  // interface
  bool force = false;
  std::string json;
  bool all = false;
  bool redact = false;
  bool no_color = false;
};

constexpr const char* kFooter =
    "\nExit codes: 0 nothing is wrong, 3 a problem was found, 1 error, 2 usage, 4 the peer cannot\n"
    "be reached, or too little could be read to tell.\n"
    "\nExamples:\n"
    "  netbench doctor\n"
    "  netbench doctor --peer 192.168.1.101\n"
    "  netbench doctor --peer 192.168.1.101 --all --json facts.json\n"
    "  sudo netbench doctor --interface eth0 --lldp 35s\n"
    "  sudo netbench doctor --cable-test eth1\n"
    "  netbench doctor --root /tmp/recorded-host --towards 192.168.1.101\n";

void add_options(CommandLine& app, DoctorOptions& options) {
  add_connection_options(app, options.connection, false);
  app.add_option("--interface", options.interface, "this interface (default: all with hardware)")
      .group("This host");
  app.add_option("--towards", options.towards,
                 "the interface that leads to this numeric address, without connecting there")
      .group("This host");
  app.add_option("--root", options.roots,
                 "look at a recorded host: the folder that holds its /proc, /sys and /etc; twice "
                 "for two ends, each with its --towards")
      .group("This host");
  app.add_option(
         "--cable-test", options.cable_test,
         "let the PHY of this interface measure its twisted-pair cable: takes the link down "
         "for some seconds; refused on the interface of the default route, of an SSH "
         "session or of --towards; needs CAP_NET_ADMIN")
      .not_empty()
      .group("This host");
  app.add_flag("--force", options.force, "test the cable even there").group("This host");
  app.add_option("--lldp", options.lldp,
                 "listen so long (\"35s\") for the switches' names and ports; needs CAP_NET_RAW")
      .group("What to show");
  app.add_flag("--all", options.all, "every fact with its source, or why it is unknown")
      .group("What to show");
  app.add_option("--json", options.json,
                 "write the document to FILE (never overwritten) or -, which shows nothing else")
      .not_empty()
      .group("What to show");
  app.add_flag("--redact", options.redact,
               "replace names, addresses and serials in what is "
               "written")
      .group("What to show");
  app.add_flag("--no-color", options.no_color, "plain text (also: NO_COLOR)").group("What to show");
}

/// Whether every host that is looked at has the interface asked for; true where a host does not
/// say what it has.
Status check_interface(const DoctorOptions& options) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options.roots.size(), 1); ++i) {
    const bool live = options.roots.empty() || options.roots[i] == "/";
    auto network = live ? facts::open_kernel_network()
                        : Result<std::unique_ptr<facts::NetworkReader>>(
                              facts::open_recorded_network(options.roots[i]));
    const bool readable = network && *network != nullptr;
    const auto links = readable ? (*network)->links() : Result<std::vector<facts::LinkInfo>>{};
    if (!links || links->empty() || (*network)->link(options.interface)) {
      continue;
    }
    std::string names;
    for (const auto& link : *links) {
      names += (names.empty() ? "" : ", ") + link.name;
    }
    return fail("no-such-interface",
                fmt::format("{} has no interface \"{}\"",
                            live ? std::string("this host") : options.roots[i], options.interface),
                fmt::format("It has: {}.", names), ExitClass::usage);
  }
  return {};
}

Status check_peer(const DoctorOptions& options) {
  if (options.connection.peer == "self") {
    return {};
  }
  const auto peer = session::parse_peer(options.connection.peer);
  return peer ? Status{} : Status(tl::unexpected(peer.error()));
}

/// What was written must name something, an empty text too.
Status check_texts(const CommandLine& app, const DoctorOptions& options) {
  if (app.count("--peer") > 0) {
    return check_peer(options);
  }
  return app.count("--interface") > 0 ? check_interface(options) : Status{};
}

Status check(DoctorOptions& options) {
  const bool peer = !options.connection.peer.empty();
  if (peer && (!options.roots.empty() || !options.towards.empty() || !options.interface.empty())) {
    return fail("usage", "--peer names the interface and asks live hosts",
                "Leave out --root, --towards and --interface.", ExitClass::usage);
  }
  if (!options.cable_test.empty() && (peer || !options.roots.empty())) {
    return fail("usage", "a cable is tested on this live host alone",
                "Leave out --peer and --root; --towards names the peer whose link is spared.",
                ExitClass::usage);
  }
  if (options.roots.size() > 2 ||
      options.towards.size() > std::max<std::size_t>(options.roots.size(), 1)) {
    return fail("usage", "there are at most two recorded hosts, each with one --towards", {},
                ExitClass::usage);
  }
  for (const auto& root : options.roots) {
    if (facts::list_directory(root, "/proc").empty() &&
        facts::list_directory(root, "/sys").empty()) {
      return fail("bad-root", fmt::format("{} holds neither proc nor sys of a host", root),
                  "Name the folder that stands for the host's /.", ExitClass::usage);
    }
  }
  for (const auto& address : options.towards) {
    if (const auto numeric = facts::parse_ip(address); !numeric) {
      return fail("bad-address", numeric.error().message,
                  "--peer takes a name; --towards looks up none.", ExitClass::usage);
    }
  }
  if (!options.lldp.empty()) {
    const auto wait = parse_duration_ns(options.lldp);
    if (!wait) {
      return tl::unexpected(wait.error());
    }
    options.lldp_wait = Nanoseconds(*wait);
  }
  return {};
}

/// What the other of two recorded hosts calls itself, as a connection would tell.
std::string name_of_other(const std::vector<std::string>& roots, std::size_t own) {
  if (roots.size() < 2) {
    return {};
  }
  return facts::read_line_file(roots[1 - own], "/proc/sys/kernel/hostname").value_or("");
}

/// The facts of this host, or of recorded ones, as h0 and h1.
void collect_here(const DoctorOptions& options, Document& document) {
  const std::vector<std::string> live{"/"};
  const auto& roots = options.roots.empty() ? live : options.roots;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    facts::CollectOptions collect;
    collect.root = roots[i];
    collect.peer_address = i < options.towards.size() ? options.towards[i] : "";
    collect.peer_name = name_of_other(roots, i);
    collect.interface = options.interface.empty() ? options.cable_test : options.interface;
    collect.every_interface = true;
    collect.lldp_wait = options.lldp_wait;
    document.hosts[fmt::format("h{}", i)] = facts::collect_host(collect);
  }
}

/// The facts of both ends; where the peer cannot be reached, of this one, and why.
Status collect_both(const DoctorOptions& options, Document& document) {
  const plugin::PluginHost plugins;
  ConnectWatch watch;
  constexpr int kNoCancel = -1;
  auto pair = connect_pair(options.connection, plugins, {}, watch, kNoCancel);
  if (!pair) {
    watch.record(document);
    return tl::unexpected(pair.error());
  }
  document.run.authenticated = pair->agent.channel->secure();
  document.config["peer_address"] = pair->agent.address.text();
  const auto met = meet_hosts(*pair, document, options.lldp_wait);
  pair->agent.channel->close();
  return met ? Status{} : Status(tl::unexpected(met.error()));
}

Status collect(const DoctorOptions& options, Document& document) {
  if (!options.connection.peer.empty()) {
    return collect_both(options, document);
  }
  collect_here(options, document);
  return options.cable_test.empty()
             ? Status{}
             : test_cable({options.cable_test,
                           options.towards.empty() ? std::string() : options.towards.front(),
                           options.force},
                          document.hosts["h0"]);
}

Document new_document_of(const DoctorOptions& options, std::span<char* const> words) {
  Document document = new_document(options.connection, words);
  document.status = DocumentStatus::ok;
  document.error.reset();
  document.run.command_line[1] = "doctor";
  if (!options.connection.peer.empty()) {
    document.config["peer"] = options.connection.peer;
  }
  return document;
}

/// Prints facts and findings.
Status show(const Document& document, const DoctorOptions& options) {
  const bool color = wants_color(options.no_color);
  const int width = terminal_width(STDOUT_FILENO);
  std::string text = doctor_text(document, {color, width, options.all});
  const std::string verdict = report::verdict_text(document, {color, width});
  text += verdict.empty() ? "\nnothing is wrong with what these facts show\n" : "\n" + verdict;
  return print_all(text);
}

bool has_problem(const Document& document) {
  return std::ranges::any_of(document.findings, [](const Finding& finding) {
    return finding.severity == Severity::problem && finding.confidence != Confidence::excluded;
  });
}

int run(const DoctorOptions& options, std::span<char* const> words,
        std::optional<report::DocumentWriter> writer) {
  Document document = new_document_of(options, words);
  const Status collected = collect(options, document);
  if (!collected) {
    document.status = DocumentStatus::failed;
    document.error = collected.error();
  }
  document.run.finished_utc = utc_now();
  judge_facts(document);
  if (options.redact) {
    document = report::redact(std::move(document));
  }
  if (writer) {
    if (const auto written = writer->finish(document); !written) {
      return report(written.error());
    }
  }
  if (options.json != "-") {
    if (const auto shown = show(document, options); !shown) {
      return report(shown.error());
    }
  }
  if (!collected) {
    return report(*document.error);
  }
  if (has_problem(document)) {
    return static_cast<int>(ExitClass::acceptance_failed);
  }
  return static_cast<int>(says_too_little(document) ? ExitClass::nothing_measured
                                                    : ExitClass::passed);
}

}  // namespace

int run_doctor(std::span<char* const> words) {
  DoctorOptions options;
  CommandLine app{
      "Collects what this host, or both ends of a path, show about themselves, and says what is\n"
      "wrong already: no traffic, nothing is changed, under 3 s.",
      "netbench doctor"};
  add_options(app, options);
  app.footer(kFooter);
  if (const auto exit_code = app.parse_or_print(words)) {
    return *exit_code;
  }
  for (const Status& sound : {check(options), check_texts(app, options)}) {
    if (!sound) {
      return report(sound.error());
    }
  }
  std::optional<report::DocumentWriter> writer;
  if (!options.json.empty()) {
    auto opened = report::DocumentWriter::create(options.json);
    if (!opened) {
      return report(opened.error());
    }
    writer.emplace(std::move(*opened));
  }
  return run(options, words, std::move(writer));
}

}  // namespace netbench::cli
