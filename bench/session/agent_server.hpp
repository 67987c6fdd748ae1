#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bench/core/result.hpp"
#include "bench/session/acceptor.hpp"
#include "bench/session/channel.hpp"
#include "bench/session/hello.hpp"
#include "bench/session/wake.hpp"

namespace netbench::session {

struct AgentOptions {
  std::string address{};  // numeric; empty = all
  std::uint16_t port = kDefaultPort;
  std::optional<Key> key{};
  std::string identity{};  // empty = the key's own
  bool insecure = false;   // accept clients without a key
  Hello hello{};           // what the agent says about itself
  std::size_t queue_limit = 8;
  ChannelOptions channel{.silence = kAgentSilence};
};

/// An agent: accepts clients, keeps those that wait in a bounded queue, tells them their place and
/// who holds the agent, and serves one at a time.
class AgentServer {
 public:
  /// Serves one client from its hello exchange on; what it leaves is cleaned up after it.
  using Handler = std::function<void(Channel& channel, const Hello& client)>;

  /// Errors: as Acceptor::start(). Clients may connect from here on.
  [[nodiscard]] static Result<std::unique_ptr<AgentServer>> start(const AgentOptions& options);
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;
  /// run() must have returned.
  ~AgentServer();

  [[nodiscard]] std::uint16_t port() const { return acceptor_->port(); }
  [[nodiscard]] Acceptor& acceptor() { return *acceptor_; }

  /// Serves clients on the calling thread until stop(). No client, and no exception of the handler,
  /// ends it.
  void run(const Handler& handler);

  /// Ends run(): at once where no client is served, else a receive() of the handler is cancelled
  /// and run() returns after the handler. Async-signal-safe. [any-thread]
  void stop();

 private:
  struct Client {
    std::unique_ptr<Channel> channel;
    Hello hello;
    std::string name;  // "10.0.0.7:51234 (node7)"
    Queued told{0, {}};
  };

  explicit AgentServer(const AgentOptions& options);

  using Clients = std::deque<std::unique_ptr<Client>>;

  [[nodiscard]] std::optional<Error> admit(Arrival& arrival);
  [[nodiscard]] std::optional<Error> refuse_busy(const Hello& client) const;
  [[nodiscard]] std::string holder() const;
  void tell_places();
  [[nodiscard]] std::unique_ptr<Client> next_client();
  void serve(Client& client, const Handler& handler);
  void release(Client& client);
  void watch();
  void send_away();
  [[nodiscard]] Clients remove_vanished();

  AgentOptions options_;
  WakeFd stop_requested_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Clients queue_;
  Client* serving_ = nullptr;
  bool stopping_ = false;

  std::thread watcher_;  // removes waiting clients that vanish; carries stop() to the others
  std::unique_ptr<Acceptor> acceptor_;  // last: its thread calls admit()
};

}  // namespace netbench::session
