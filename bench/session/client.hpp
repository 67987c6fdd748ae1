#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/core/result.hpp"
#include "bench/session/address.hpp"
#include "bench/session/channel.hpp"
#include "bench/session/dial.hpp"
#include "bench/session/hello.hpp"
#include "bench/session/key.hpp"

namespace netbench::session {

struct ConnectOptions {
  std::string host{};
  std::uint16_t port = kDefaultPort;
  AddressFamily family = AddressFamily::any;
  std::optional<Key> key{};  // none = without a key (--insecure)
  std::string identity{};    // empty = the key's own
  Hello hello{};             // with no_wait as the user asked
  /// Called whenever the place in the agent's queue, or who holds the agent, changes.
  std::function<void(const Queued&)> on_queue{};
  /// Called for every address that did not take the connection.
  std::function<void(const SocketAddress& to, const ConnectFailure&)> on_failure{};
  Nanoseconds resolve_limit = std::chrono::seconds(5);
  Nanoseconds connect_limit = std::chrono::seconds(5);
  Nanoseconds answer_limit = std::chrono::milliseconds(1800);  // for each answer of the agent
  Nanoseconds queue_limit = std::chrono::hours(1);
  int cancel_fd = -1;  // readable = give up with `cancelled`; -1 = none
  ChannelOptions channel;
};

struct AgentConnection {
  std::unique_ptr<Channel> channel;
  Hello agent;
  SocketAddress address;  // of the agent
};

/// Connects to an agent and returns when the agent serves this client. Errors, all of exit class
/// nothing_measured and with a remedy: those of dial(), `not-an-agent`, `key-unknown`, `key-wrong`,
/// `agent-wants-key`, `agent-insecure`, `version-mismatch`, `peer-busy`, `peer-closed`,
/// `peer-lost`, `control-timeout`; `cancelled` is of class interrupted.
[[nodiscard]] Result<AgentConnection> connect_agent(const ConnectOptions& options);

}  // namespace netbench::session
