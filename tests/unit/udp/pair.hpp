#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/core/unique_fd.hpp"
#include "bench/session/address.hpp"
#include "bench/session/udp_desk.hpp"
#include "bench/session/wake.hpp"
#include "transports/abi/nb_transport.h"
#include "transports/udp/tables.hpp"

extern "C" const nb_transport nb_transport_entry_v1;

namespace netbench::udp {

/// An agent's UDP port with a desk, and the host of both ends.
class Agent {
 public:
  Agent() : socket_(session::UdpDesk::open_socket("", 0).value()), desk_(socket_.get()) {
    host_.struct_size = sizeof host_;
    host_.context = const_cast<void*>(static_cast<const void*>(desk_.table()));
    host_.extension = [](const nb_host* self, const char* id) -> const void* {
      return std::strcmp(id, NB_DATAGRAM_RENDEZVOUS_ID) == 0 ? self->context : nullptr;
    };
    thread_ = session::start_thread("desk", [this] { loop(); });
  }
  ~Agent() {
    wake_.notify();
    thread_.join();
  }

  [[nodiscard]] const nb_host* host() const { return &host_; }
  [[nodiscard]] std::uint16_t port() const { return desk_.port(); }

 private:
  void loop() {
    std::array<pollfd, 2> fds{{{socket_.get(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
    while (::poll(fds.data(), fds.size(), -1) > 0 && fds[1].revents == 0) {
      std::array<std::uint8_t, 2048> buffer{};
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      auto* source = reinterpret_cast<sockaddr*>(&from);
      const auto got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, source, &size);
      if (got >= 0) {
        desk_.on_datagram(std::span(buffer).first(static_cast<std::size_t>(got)), source, size);
      }
    }
  }

  UniqueFd socket_;
  session::UdpDesk desk_;
  session::WakeFd wake_;
  nb_host host_{};
  std::thread thread_;
};

struct Point {
  WorkloadId workload = WorkloadId::bandwidth;
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 1448;
  std::vector<nb_value> values{};
  std::string address = "127.0.0.1";  // of the agent
  std::int64_t deadline_ns = 5'000'000'000;
};

/// A status with its error.
struct Outcome {
  nb_status status = NB_OK;
  nb_error error{sizeof(nb_error), NB_OK, 0, {}, {}, {}};

  [[nodiscard]] std::string slug() const { return error.slug; }
};

inline session::SocketAddress loopback(const std::string& address, std::uint16_t port) {
  sockaddr_in four{};
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return session::make_address(reinterpret_cast<sockaddr*>(&four), sizeof four);
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr);
  return session::make_address(reinterpret_cast<sockaddr*>(&six), sizeof six);
}

/// One end of a point through the C table.
class End {
 public:
  End(const nb_host* host, nb_role role, const Point& point, std::uint16_t port) {
    const session::SocketAddress agent = loopback(point.address, port);
    nb_open_args args{};
    args.struct_size = sizeof args;
    args.role = role;
    args.workload = static_cast<std::uint32_t>(point.workload);
    args.direction = point.direction;
    args.message_bytes = point.message_bytes;
    args.values = point.values.data();
    args.value_count = point.values.size();
    if (role == NB_INITIATOR) {
      args.peer_address = &agent.storage;
      args.peer_address_bytes = agent.size;
    } else {
      args.local_address = &agent.storage;
      args.local_address_bytes = agent.size;
    }
    args.deadline_ns = point.deadline_ns;
    opened.status = table().open(host, &args, &session_, &opened.error);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { close(); }

  static const nb_transport& table() { return nb_transport_entry_v1; }

  void close() {
    if (session_ != nullptr) {
      table().close(std::exchange(session_, nullptr));
    }
  }
  [[nodiscard]] std::vector<std::uint8_t> describe() {
    nb_blob blob{};
    EXPECT_EQ(table().describe(session_, &blob, nullptr), NB_OK);
    return {blob.data, blob.data + blob.size};
  }
  Outcome connect(const std::vector<std::uint8_t>& peer) {
    const nb_blob blob{peer.data(), peer.size()};
    return call([&](nb_error* error) { return table().connect(session_, &blob, 1, error); });
  }
  Outcome run(const nb_batch& batch, nb_batch_result& result) {
    result.struct_size = sizeof result;
    return call([&](nb_error* error) { return table().run(session_, &batch, &result, error); });
  }
  /// A window of a receiving end.
  nb_batch_result window(std::int64_t duration_ns) {
    nb_batch_result result{};
    const Outcome outcome = run({sizeof(nb_batch), 0, duration_ns}, result);
    EXPECT_EQ(outcome.status, NB_OK) << outcome.error.message;
    return result;
  }
  Outcome serve() {
    nb_batch_result result{};
    return run({sizeof(nb_batch), 0, 0}, result);
  }
  Outcome stop(std::int64_t timeout_ns = 3'000'000'000) {
    return call([&](nb_error* error) { return table().stop(session_, timeout_ns, error); });
  }
  void cancel() { table().cancel(session_); }

  [[nodiscard]] std::map<std::string, double> counters() {
    std::map<std::string, double> out;
    nb_sink sink{sizeof(nb_sink), &out,
                 [](void* context, const char* name, double value) {
                   (*static_cast<std::map<std::string, double>*>(context))[name] = value;
                 },
                 nullptr};
    EXPECT_EQ(table().counters(session_, &sink, nullptr), NB_OK);
    return out;
  }

  struct Effective {
    std::int64_t number;
    std::uint32_t flags;
    std::string note;
  };
  [[nodiscard]] std::map<std::string, Effective> effective() {
    std::map<std::string, Effective> out;
    nb_effective_sink sink{sizeof(nb_effective_sink), &out,
                           [](void* context, const char* name, std::int64_t number, const char*,
                              std::uint32_t flags, const char* note) {
                             auto& map = *static_cast<std::map<std::string, Effective>*>(context);
                             map[name] = {number, flags, note != nullptr ? note : ""};
                           }};
    EXPECT_EQ(table().effective(session_, &sink, nullptr), NB_OK);
    return out;
  }

  Outcome opened;

 private:
  template <class Call>
  static Outcome call(Call body) {
    Outcome outcome;
    outcome.status = body(&outcome.error);
    return outcome;
  }

  nb_session* session_ = nullptr;
};

/// Both ends of a point, connected through an agent.
class Pair {
 public:
  explicit Pair(const Point& point) : Pair(point, [](std::uint16_t port) { return port; }) {}

  /// `front` gives the port that the initiator talks to, in place of the agent's.
  template <class Front>
  Pair(const Point& point, Front front)
      : responder(agent->host(), NB_RESPONDER, point, agent->port()),
        initiator(agent->host(), NB_INITIATOR, point, front(agent->port())) {
    const auto theirs = responder.describe();
    const auto ours = initiator.describe();
    std::thread other([&] { responder_connected = responder.connect(ours); });
    initiator_connected = initiator.connect(theirs);
    other.join();
    EXPECT_EQ(initiator_connected.status, NB_OK) << initiator_connected.error.message;
    EXPECT_EQ(responder_connected.status, NB_OK) << responder_connected.error.message;
  }

  /// stop() on both ends at about the same time.
  void stop() {
    Outcome theirs;
    std::thread other([&] { theirs = responder.stop(); });
    const Outcome ours = initiator.stop();
    other.join();
    EXPECT_EQ(ours.status, NB_OK) << ours.error.message;
    EXPECT_EQ(theirs.status, NB_OK) << theirs.error.message;
  }

  std::unique_ptr<Agent> agent = std::make_unique<Agent>();
  End responder;
  End initiator;
  Outcome initiator_connected;
  Outcome responder_connected;
};

/// The shortest time of three tries: what the code takes, rather than what a busy machine adds.
template <class Try>
auto best_of_three(Try attempt) {
  auto best = attempt();
  for (int i = 1; i < 3; ++i) {
    best = std::min(best, attempt());
  }
  return best;
}

}  // namespace netbench::udp
