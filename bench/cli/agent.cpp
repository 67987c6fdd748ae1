#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <optional>
#include <string>

#include "bench/cli/agent_probes.hpp"
#include "bench/cli/command.hpp"
#include "bench/cli/interrupt.hpp"
#include "bench/cli/parse.hpp"
#include "bench/cli/plugins_hello.hpp"
#include "bench/core/log.hpp"
#include "bench/facts/mtu_knob.hpp"
#include "bench/measure/responder.hpp"
#include "bench/plugin/host.hpp"
#include "bench/plugin/host_services.hpp"
#include "bench/session/agent_server.hpp"
#include "bench/session/key.hpp"
#include "bench/session/rendezvous.hpp"

namespace netbench::cli {

namespace {

struct AgentArguments {
  std::string bind;
  std::uint16_t port = session::kDefaultPort;
  std::string key_file;
  bool insecure = false;
  bool allow_knobs = false;
  int announce_fd = -1;  // for --peer self: the port is written here, and the parent's end is ours
};

struct AgentKey {
  std::optional<session::Key> key;
  bool made_now = false;
};

/// The key to serve with: the user's, or one for this agent's lifetime.
Result<AgentKey> agent_key(const AgentArguments& arguments) {
  if (arguments.insecure) {
    return AgentKey{};
  }
  auto loaded = session::load_key(session::KeySources::of_process(arguments.key_file));
  if (loaded) {
    return AgentKey{loaded->key, false};
  }
  if (loaded.error().slug != "key-missing") {
    return tl::unexpected(loaded.error());
  }
  auto key = session::Key::generate();
  if (!key) {
    return tl::unexpected(key.error());
  }
  return AgentKey{*key, true};
}

void greet(const AgentArguments& arguments, const AgentKey& key, const session::AgentServer& server,
           const std::string& host_name) {
  if (arguments.announce_fd >= 0) {
    const std::string line = fmt::format("{}\n", server.port());
    [[maybe_unused]] const auto written = ::write(arguments.announce_fd, line.data(), line.size());
    ::close(arguments.announce_fd);
    return;
  }
  const std::string port =
      server.port() == session::kDefaultPort ? "" : fmt::format(":{}", server.port());
  fmt::print("netbench {} agent on port {} (TCP and UDP){}\n", NETBENCH_VERSION, server.port(),
             arguments.allow_knobs ? ", may change the MTU" : "");
  fmt::print("on the other host:  netbench pair --peer {}{}{}\n", host_name, port,
             arguments.insecure ? " --insecure" : "");
  if (key.made_now) {
    fmt::print(
        "no key was found; this one is good until the agent ends (paste it when asked):\n"
        "  {}\n",
        key.key->to_base64());
  } else if (arguments.insecure) {
    fmt::print("without a key: anybody who reaches this port can use this host for tests\n");
  }
  std::fflush(stdout);
}

Result<int> serve(const AgentArguments& arguments) {
  Interrupt interrupt;
  for (const std::string& line : facts::recover_journal()) {
    log(LogLevel::warning, line);
  }
  const auto key = agent_key(arguments);
  if (!key) {
    return tl::unexpected(key.error());
  }
  const plugin::PluginHost plugins;
  session::AgentOptions options;
  options.address = arguments.bind;
  options.port = arguments.port;
  options.key = key->key;
  options.insecure = arguments.insecure;
  options.hello = make_hello(plugins, plugins.names());
  options.hello.allow_knobs = arguments.allow_knobs;
  options.hello.insecure = arguments.insecure;
  auto server = session::AgentServer::start(options);
  if (!server) {
    return tl::unexpected(server.error());
  }
  session::Acceptor& acceptor = (*server)->acceptor();
  const session::Rendezvous rendezvous(acceptor);
  plugin::HostServices services;
  services.offer(NB_RENDEZVOUS_ID, rendezvous.table());
  AgentProbes probes(arguments.bind, acceptor, services);
  measure::ResponderContext context{plugins,
                                    services,
                                    arguments.allow_knobs,
                                    {},
                                    {},
                                    [&] {
                                      if (const auto restored = acceptor.restore_listener();
                                          !restored) {
                                        log(LogLevel::error, to_text(restored.error()));
                                      }
                                    },
                                    [&] { return probes.allow(); },
                                    [&] { probes.forbid(); }};
  interrupt.on_signal([&] { (*server)->stop(); });
  greet(arguments, *key, **server, options.hello.host_name);
  (*server)->run([&](session::Channel& channel, const session::Hello& client) {
    context.client_boot_id = client.boot_id;
    context.client_host_name = client.host_name;
    if (const auto served = measure::serve_client(channel, context); !served) {
      log(LogLevel::info,
          fmt::format("client {}: {}", channel.peer().text(), served.error().message));
    }
  });
  interrupt.on_signal({});
  return 0;
}

}  // namespace

int run_agent(std::span<char* const> words) {
  AgentArguments arguments;
  bool quiet = false;
  CommandLine app{
      "Answers the measurements of other hosts until it is stopped: one client at a time, the\n"
      "others wait in a queue. Only the agent's port must be open (TCP; UDP too for path probes\n"
      "and the udp transport).",
      "netbench agent"};
  app.add_option("--bind", arguments.bind, "numeric address to listen on (default: all)");
  app.add_option("--port", arguments.port, "TCP and UDP port (default 18550; 0: any)");
  app.add_option("--key-file", arguments.key_file,
                 "the shared key (else $NETBENCH_KEY, else ~/.config/netbench/key, else one is "
                 "made and printed)");
  app.add_flag("--insecure", arguments.insecure, "accept clients without a key, and no others");
  app.add_flag("--allow-knobs", arguments.allow_knobs,
               "let clients change the MTU of the test interface (needs CAP_NET_ADMIN; restored "
               "afterwards)");
  app.add_flag("--quiet", quiet, "say nothing about clients that come and go");
  app.add_option("--announce-fd", arguments.announce_fd, "").group("");
  app.footer(
      "\nExamples:\n"
      "  netbench agent                           with the key of netbench keygen\n"
      "  sudo netbench agent --allow-knobs        --mtu 1500,9000 may change the interface\n"
      "  netbench agent --bind 192.168.1.101      on the storage plane only\n");
  if (const auto exit_code = app.parse_or_print(words)) {
    return *exit_code;
  }
  if (arguments.announce_fd >= 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  set_log_level(quiet ? LogLevel::warning : LogLevel::info);
  const auto exit_code = serve(arguments);
  return exit_code ? *exit_code : report(exit_code.error());
}

}  // namespace netbench::cli
