#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/tcp/rendezvous_host.hpp"
#include "transports/abi/nb_transport.h"

extern "C" const nb_transport nb_transport_entry_v1;

namespace netbench::tcp::test {

/// Index of a workload of the plug-in by its name.
inline std::uint32_t workload_index(const std::string& name) {
  for (std::uint32_t index = 0; index < nb_transport_entry_v1.workload_count; ++index) {
    if (name == nb_transport_entry_v1.workloads[index].name) {
      return index;
    }
  }
  throw std::runtime_error("no workload " + name);
}

/// A requested value: number, or text where it has one.
struct Asked {
  std::string name;
  std::int64_t number = 0;
  std::string text;
};

/// What a point is asked for, with the defaults of most tests.
struct Point {
  std::string workload = "bandwidth";
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 64 * 1024;
  std::vector<Asked> values = {};
  int family = AF_INET;
  std::int64_t deadline_ns = 5'000'000'000;
};

struct Effective {
  std::int64_t number = 0;
  std::string text;
  std::uint32_t flags = 0;
  std::string note;
};

struct Outcome {
  nb_status status = NB_OK;
  std::string slug;
  std::string message;
  std::string remedy;
};

inline nb_error empty_error() {
  nb_error error{};
  error.struct_size = sizeof error;
  return error;
}

inline Outcome outcome(nb_status status, const nb_error& error) {
  return {status, status == NB_OK ? "" : error.slug, status == NB_OK ? "" : error.message,
          status == NB_OK ? "" : error.remedy};
}

/// One end of a point, through the C table.
class End {
 public:
  End(const RendezvousHost& host, nb_role role, const Point& point)
      : host_(&host), address_(host.address()) {
    for (const Asked& asked : point.values) {
      values_.push_back(
          {asked.name.c_str(), asked.number, asked.text.empty() ? nullptr : asked.text.c_str()});
    }
    args_.struct_size = sizeof args_;
    args_.role = role;
    args_.workload = workload_index(point.workload);
    args_.direction = point.direction;
    args_.message_bytes = point.message_bytes;
    args_.values = values_.data();
    args_.value_count = values_.size();
    args_.seed = 1;
    args_.peer_address = &address_;
    args_.peer_address_bytes = sizeof address_;
    args_.local_address = &address_;
    args_.local_address_bytes = sizeof address_;
    args_.deadline_ns = point.deadline_ns;
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { close(); }

  Outcome check() {
    return call([&](nb_error* e) { return table().check(&args_, e); });
  }
  Outcome open() {
    return call([&](nb_error* e) { return table().open(host_->host(), &args_, &session_, e); });
  }
  nb_blob describe() {
    nb_blob blob{};
    table().describe(session_, &blob, nullptr);
    return blob;
  }
  Outcome connect(nb_blob peer) {
    return call([&](nb_error* e) { return table().connect(session_, &peer, 1, e); });
  }
  Outcome run(std::int64_t iterations, std::int64_t duration_ns) {
    samples_.assign(static_cast<std::size_t>(iterations), 0);
    const nb_batch batch{sizeof batch, iterations, duration_ns};
    result_ = {};
    result_.struct_size = sizeof result_;
    result_.samples_ns = samples_.data();
    result_.sample_capacity = samples_.size();
    return call([&](nb_error* e) { return table().run(session_, &batch, &result_, e); });
  }
  Outcome stop(std::int64_t timeout_ns = 5'000'000'000) {
    return call([&](nb_error* e) { return table().stop(session_, timeout_ns, e); });
  }
  void cancel() { table().cancel(session_); }
  void close() {
    if (session_ != nullptr) {
      table().close(std::exchange(session_, nullptr));
    }
  }
  std::map<std::string, double> counters() {
    std::map<std::string, double> all;
    const nb_sink sink{sizeof sink, &all,
                       [](void* context, const char* name, double value) {
                         (*static_cast<std::map<std::string, double>*>(context))[name] = value;
                       },
                       [](void*, const char*, const char*) {}};
    table().counters(session_, &sink, nullptr);
    return all;
  }
  std::map<std::string, Effective> effective() {
    std::map<std::string, Effective> all;
    const nb_effective_sink sink{
        sizeof sink, &all,
        [](void* context, const char* name, std::int64_t number, const char* text,
           std::uint32_t flags, const char* note) {
          (*static_cast<std::map<std::string, Effective>*>(context))[name] = {
              number, text != nullptr ? text : "", flags, note != nullptr ? note : ""};
        }};
    table().effective(session_, &sink, nullptr);
    return all;
  }
  std::string method() { return table().method(session_); }

  [[nodiscard]] const nb_batch_result& result() const { return result_; }
  [[nodiscard]] const std::vector<std::uint64_t>& samples() const { return samples_; }

 private:
  static const nb_transport& table() { return nb_transport_entry_v1; }

  template <class Call>
  static Outcome call(Call body) {
    nb_error error = empty_error();
    const nb_status status = body(&error);
    return outcome(status, error);
  }

  const RendezvousHost* host_;
  sockaddr_storage address_;
  std::vector<nb_value> values_;
  nb_open_args args_{};
  nb_session* session_ = nullptr;
  std::vector<std::uint64_t> samples_;
  nb_batch_result result_{};
};

/// Both ends of one point on loopback.
class Pair {
 public:
  explicit Pair(Point point)
      : point_(std::move(point)),
        host_(point_.family),
        initiator_(host_, NB_INITIATOR, point_),
        responder_(host_, NB_RESPONDER, point_) {}

  /// Opens and connects both; the first failure is returned.
  Outcome connect() {
    for (End* end : {&responder_, &initiator_}) {
      if (const Outcome opened = end->open(); opened.status != NB_OK) {
        return opened;
      }
    }
    const nb_blob blob = responder_.describe();
    const nb_blob peer = initiator_.describe();
    auto responding = std::async(std::launch::async, [&] { return responder_.connect(peer); });
    const Outcome initiated = initiator_.connect(blob);
    if (initiated.status != NB_OK) {
      responder_.cancel();
    }
    const Outcome responded = responding.get();
    return initiated.status != NB_OK ? initiated : responded;
  }
  /// Both ends stop at about the same time.
  std::pair<Outcome, Outcome> stop() {
    auto responding = std::async(std::launch::async, [&] { return responder_.stop(); });
    const Outcome initiated = initiator_.stop();
    return {initiated, responding.get()};
  }

  [[nodiscard]] RendezvousHost& host() { return host_; }
  [[nodiscard]] End& initiator() { return initiator_; }
  [[nodiscard]] End& responder() { return responder_; }

 private:
  Point point_;
  RendezvousHost host_;
  End initiator_;
  End responder_;
};

inline constexpr std::int64_t kMillisecond = 1'000'000;

}  // namespace netbench::tcp::test
