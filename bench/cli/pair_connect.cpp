#include "bench/cli/pair_connect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "bench/cli/peer_witness.hpp"
#include "bench/cli/plugins_hello.hpp"
#include "bench/core/log.hpp"
#include "bench/session/key.hpp"

namespace netbench::cli {

namespace {

constexpr const char* kSelf = "self";

Result<session::Key> client_key(const PairOptions& options) {
  auto loaded = session::load_key(session::KeySources::of_process(options.key_file));
  if (loaded) {
    return loaded->key;
  }
  const bool ask = loaded.error().slug == "key-missing" && ::isatty(STDIN_FILENO) == 1 &&
                   ::isatty(STDERR_FILENO) == 1;
  return ask ? session::ask_key() : Result<session::Key>(tl::unexpected(loaded.error()));
}

session::AddressFamily family_of(const std::string& text) {
  return text == "4"   ? session::AddressFamily::ipv4
         : text == "6" ? session::AddressFamily::ipv6
                       : session::AddressFamily::any;
}

/// Where to connect and with what: to an agent of this process's own for `--peer self`.
Result<session::ConnectOptions> connect_options(const PairOptions& options,
                                                std::optional<LocalAgent>& own_agent) {
  session::ConnectOptions connect;
  if (options.peer == kSelf) {
    const auto key = session::Key::generate();
    auto agent = key ? LocalAgent::start(*key) : Result<LocalAgent>(tl::unexpected(key.error()));
    if (!agent) {
      return tl::unexpected(agent.error());
    }
    own_agent.emplace(std::move(*agent));
    connect.host = "127.0.0.1";
    connect.port = own_agent->port();
    connect.key = *key;
    return connect;
  }
  const auto peer = session::parse_peer(options.peer);
  if (!peer) {
    return tl::unexpected(peer.error());
  }
  connect.host = peer->host;
  connect.port = peer->port;
  connect.family = family_of(options.family);
  if (!options.insecure) {
    auto key = client_key(options);
    if (!key) {
      return tl::unexpected(key.error());
    }
    connect.key = *key;
  }
  return connect;
}

Status compare_transports(const session::Hello& own, const session::AgentConnection& agent,
                          const std::vector<std::string>& transports) {
  for (const std::string& name : transports) {
    auto same =
        session::compare_plugins(own, agent.agent, name, "the agent on " + agent.address.text());
    if (!same) {
      same.error().exit_class = ExitClass::nothing_measured;
      return same;
    }
  }
  return {};
}

}  // namespace

Result<PairConnection> connect_pair(const PairOptions& options, const plugin::PluginHost& plugins,
                                    const std::vector<std::string>& transports, ConnectWatch& watch,
                                    int cancel_fd) {
  PairConnection pair;
  auto connect = connect_options(options, pair.own_agent);
  if (!connect) {
    return tl::unexpected(connect.error());
  }
  connect->hello = make_hello(plugins, transports);
  connect->hello.no_wait = options.no_wait;
  connect->hello.insecure = !connect->key.has_value();
  connect->cancel_fd = cancel_fd;
  connect->on_queue = [](const session::Queued& queued) {
    log(LogLevel::warning,
        fmt::format("the agent serves {}; place {} in its queue", queued.holder, queued.position));
  };
  connect->on_failure = [&watch](const session::SocketAddress& to,
                                 const session::ConnectFailure& failure) {
    watch.note(to, failure);
  };
  auto agent = session::connect_agent(*connect);
  if (!agent) {
    if (!options.witness.empty() && needs_witness(agent.error())) {
      if (const auto told = ask_witness(options.witness, *connect, watch); !told) {
        log(LogLevel::warning, "what the peer saw is not known: " + told.error().message);
      }
    }
    return tl::unexpected(agent.error());
  }
  if (auto same = compare_transports(connect->hello, *agent, transports); !same) {
    return tl::unexpected(same.error());
  }
  pair.agent = std::move(*agent);
  return pair;
}

}  // namespace netbench::cli
