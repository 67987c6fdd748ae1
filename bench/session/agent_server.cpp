#include "bench/session/agent_server.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "bench/core/log.hpp"

namespace netbench::session {

namespace {

// How late a vanished waiting client is noticed, at most: where some wait, and where none did.
constexpr int kWatchMs = 200;
constexpr int kIdleWatchMs = 1000;

Error busy(std::string what) {
  return Error{"peer-busy", std::move(what),
               "try again later, or without --no-wait to wait in the queue",
               ExitClass::nothing_measured};
}

}  // namespace

AgentServer::AgentServer(const AgentOptions& options) : options_(options) {
  options_.hello.insecure = options_.insecure;
}

Result<std::unique_ptr<AgentServer>> AgentServer::start(const AgentOptions& options) {
  std::unique_ptr<AgentServer> server(new AgentServer(options));
  AgentServer* self = server.get();
  auto acceptor = Acceptor::start({.address = options.address,
                                   .port = options.port,
                                   .key = options.key,
                                   .identity = options.identity,
                                   .allow_insecure = options.insecure},
                                  [self](Arrival& arrival) { return self->admit(arrival); });
  if (!acceptor) {
    return tl::unexpected(acceptor.error());
  }
  server->acceptor_ = std::move(*acceptor);
  server->watcher_ = start_thread("nb-queue", [self] { self->watch(); });
  return server;
}

AgentServer::~AgentServer() {
  acceptor_.reset();
  stop();
  if (watcher_.joinable()) {
    watcher_.join();
  }
}

void AgentServer::stop() { stop_requested_.notify(); }

// On the accept thread.
std::optional<Error> AgentServer::admit(Arrival& arrival) {
  auto hello = decode_hello(arrival.hello);
  if (!hello) {
    return hello.error();
  }
  if (const auto same = check_protocol(*hello, options_.hello, "the agent"); !same) {
    log(LogLevel::info, fmt::format("{} was refused: it is netbench {} (protocol {})",
                                    arrival.peer.text(), hello->version, hello->protocol));
    return same.error();
  }
  const std::lock_guard lock(mutex_);
  if (auto refusal = refuse_busy(*hello)) {
    return refusal;
  }
  auto client = std::make_unique<Client>();
  client->name = fmt::format("{} ({})", arrival.peer.text(), hello->host_name);
  client->hello = std::move(*hello);
  client->channel = std::make_unique<Channel>(std::move(arrival.stream), std::move(arrival.decoder),
                                              options_.channel);
  queue_.push_back(std::move(client));
  tell_places();
  changed_.notify_all();
  return std::nullopt;
}

// With the lock held. A holder that has gone already is not worth a refusal.
std::optional<Error> AgentServer::refuse_busy(const Hello& client) const {
  if (stopping_) {
    return busy("the agent is being stopped");
  }
  const bool held = serving_ != nullptr && !serving_->channel->ended();
  if (client.no_wait && (held || !queue_.empty())) {
    return busy(fmt::format("the agent is held by {}", holder()));
  }
  if (queue_.size() >= options_.queue_limit + (serving_ == nullptr ? 1 : 0)) {
    return busy(fmt::format("the agent is held by {}, and its queue of {} is full", holder(),
                            options_.queue_limit));
  }
  return std::nullopt;
}

std::string AgentServer::holder() const {
  return serving_ != nullptr ? serving_->name
         : queue_.empty()    ? std::string()
                             : queue_.front()->name;
}

// With the lock held. Only changes are told; the first in line of a free agent is served at once.
void AgentServer::tell_places() {
  const std::string name = holder();
  int place = serving_ != nullptr ? 1 : 0;
  for (const auto& client : queue_) {
    if (place > 0 && (client->told.position != place || client->told.holder != name)) {
      client->told = {place, name};
      // A failure shows in the channel's end, which remove_vanished() looks at.
      [[maybe_unused]] const Status sent = client->channel->send(encode_queued(client->told));
    }
    ++place;
  }
}

std::unique_ptr<AgentServer::Client> AgentServer::next_client() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (stopping_) {
    return nullptr;
  }
  auto client = std::move(queue_.front());
  queue_.pop_front();
  serving_ = client.get();
  tell_places();
  return client;
}

void AgentServer::run(const Handler& handler) {
  while (auto client = next_client()) {
    serve(*client, handler);
    release(*client);
  }
}

void AgentServer::serve(Client& client, const Handler& handler) {
  if (!client.channel->send(encode_hello(options_.hello))) {
    return;
  }
  log(LogLevel::info, fmt::format("{} is served", client.name));
  try {
    handler(*client.channel, client.hello);
  } catch (const std::exception& exception) {
    log(LogLevel::error, fmt::format("{}: serving it failed: {}", client.name, exception.what()));
  }
}

// Free before the connection ends: who then comes at once is not refused for who has just left.
void AgentServer::release(Client& client) {
  const auto reason = client.channel->end_reason();
  const bool lost = reason && reason->slug != "peer-closed";
  log(lost ? LogLevel::warning : LogLevel::info,
      lost ? fmt::format("{} was lost: {}", client.name, reason->message)
           : fmt::format("{} has left", client.name));
  acceptor_->clear_tokens();
  if (const auto restored = acceptor_->restore_listener(); !restored) {
    log(LogLevel::error, to_text(restored.error()));
  }
  {
    const std::lock_guard lock(mutex_);
    serving_ = nullptr;
  }
  client.channel->close();
}

void AgentServer::watch() {
  pollfd stop{stop_requested_.fd(), POLLIN, 0};
  bool waiting = false;
  while (::poll(&stop, 1, waiting ? kWatchMs : kIdleWatchMs) <= 0) {
    const auto gone = remove_vanished();  // closed outside of the lock
    const std::lock_guard lock(mutex_);
    waiting = !queue_.empty();
  }
  send_away();
}

void AgentServer::send_away() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  for (const auto& client : queue_) {
    [[maybe_unused]] const Status sent =
        client->channel->send(encode_refused(busy("the agent is being stopped")));
  }
  if (serving_ != nullptr) {
    serving_->channel->cancel();
  }
}

AgentServer::Clients AgentServer::remove_vanished() {
  Clients gone;
  const std::lock_guard lock(mutex_);
  for (auto& client : queue_) {
    if (client->channel->ended()) {
      log(LogLevel::info, fmt::format("{} left the queue", client->name));
      gone.push_back(std::move(client));
    }
  }
  std::erase(queue_, nullptr);
  if (!gone.empty()) {
    tell_places();
  }
  return gone;
}

}  // namespace netbench::session
