#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/tcp/rendezvous_host.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"
#include "transports/verbs/session.hpp"

namespace netbench::verbs::test {

using rdma::testing::FakeDevice;
using rdma::testing::FakeVerbs;

/// A requested value: number, or text where it has one.
struct Asked {
  std::string name;
  std::int64_t number = 0;
  std::string text = {};
};

inline Asked op(Op value) { return {"op", static_cast<std::int64_t>(value)}; }
inline Asked qp(Qp value) { return {"qp", static_cast<std::int64_t>(value)}; }
inline Asked wait(Wait value) { return {"wait", static_cast<std::int64_t>(value)}; }

/// What a point is asked for, with the defaults of most tests.
struct Point {
  WorkloadId workload = WorkloadId::bandwidth;
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 4096;
  std::vector<Asked> values = {};
  std::int64_t deadline_ns = 5'000'000'000;
};

/// nb_open_args of one end, with what they point to.
class Arguments {
 public:
  Arguments(nb_role role, const Point& point, const sockaddr_storage& address)
      : asked_(point.values), address_(address) {
    for (const Asked& asked : asked_) {
      values_.push_back(
          {asked.name.c_str(), asked.number, asked.text.empty() ? nullptr : asked.text.c_str()});
    }
    args_.struct_size = sizeof args_;
    args_.role = role;
    args_.workload = static_cast<std::uint32_t>(point.workload);
    args_.direction = point.direction;
    args_.message_bytes = point.message_bytes;
    args_.values = values_.data();
    args_.value_count = values_.size();
    args_.seed = 7;
    args_.peer_address = &address_;
    args_.peer_address_bytes = sizeof address_;
    args_.local_address = &address_;
    args_.local_address_bytes = sizeof address_;
    args_.deadline_ns = point.deadline_ns;
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  [[nodiscard]] const nb_open_args& get() const { return args_; }

 private:
  std::vector<Asked> asked_;
  sockaddr_storage address_;
  std::vector<nb_value> values_;
  nb_open_args args_{};
};

/// The options of one end; throws what parse and check throw.
inline Options options_of(const Point& point, nb_role role = NB_INITIATOR) {
  const Arguments arguments(role, point, {});
  Options options = parse_options(arguments.get());
  check_options(options);
  return options;
}

struct Effective {
  std::int64_t number = 0;
  std::string text;
  std::uint32_t flags = 0;
  std::string note;
};

inline std::map<std::string, double> counters_of(const Session& session) {
  std::map<std::string, double> all;
  const nb_sink sink{sizeof sink, &all,
                     [](void* context, const char* name, double value) {
                       (*static_cast<std::map<std::string, double>*>(context))[name] = value;
                     },
                     [](void*, const char*, const char*) {}};
  session.counters(sdk::Sink(&sink));
  return all;
}

inline std::map<std::string, Effective> effective_of(const Session& session) {
  std::map<std::string, Effective> all;
  const nb_effective_sink sink{
      sizeof sink, &all,
      [](void* context, const char* name, std::int64_t number, const char* text,
         std::uint32_t flags, const char* note) {
        (*static_cast<std::map<std::string, Effective>*>(context))[name] = {
            number, text != nullptr ? text : "", flags, note != nullptr ? note : ""};
      }};
  session.effective(sdk::EffectiveSink(&sink));
  return all;
}

struct Ran {
  nb_batch_result result{};
  std::vector<std::uint64_t> samples;
};

inline Ran run(Session& session, std::int64_t iterations, std::int64_t duration_ns) {
  Ran ran;
  ran.samples.resize(static_cast<std::size_t>(iterations));
  ran.result.struct_size = sizeof ran.result;
  ran.result.samples_ns = ran.samples.data();
  ran.result.sample_capacity = ran.samples.size();
  session.run({sizeof(nb_batch), iterations, duration_ns}, ran.result);
  return ran;
}

inline constexpr std::int64_t kMillisecond = 1'000'000;

/// run() of an end until stop(), as the harness does with one that serves. Cancelled where nobody
/// asks how it ended.
class Serving {
 public:
  explicit Serving(Session& session)
      : session_(&session),
        ended_(std::async(std::launch::async, [&session] { run(session, 0, 0); })) {}
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() {
    if (ended_.valid()) {
      session_->cancel();
    }
  }
  [[nodiscard]] bool ends_within(std::chrono::milliseconds limit) const {
    return ended_.wait_for(limit) == std::future_status::ready;
  }
  void get() { ended_.get(); }

 private:
  Session* session_;
  std::future<void> ended_;
};

/// Both ends of one point over the fake fabric.
class Pair {
 public:
  explicit Pair(const Point& point, FakeDevice device = {})
      : fabric_({std::move(device)}), table_(fabric_.table()) {
    responder_ = make(NB_RESPONDER, point);
    initiator_ = make(NB_INITIATOR, point);
  }

  void connect() {
    const nb_blob theirs = responder_->describe();
    const nb_blob ours = initiator_->describe();
    auto answered =
        std::async(std::launch::async, [&] { responder_->connect(std::span(&ours, 1)); });
    try {
      initiator_->connect(std::span(&theirs, 1));
    } catch (...) {
      responder_->cancel();
      answered.wait();
      throw;
    }
    answered.get();
  }

  void stop() {
    auto other = std::async(std::launch::async, [&] { responder_->stop(5'000 * kMillisecond); });
    initiator_->stop(5'000 * kMillisecond);
    other.get();
  }

  [[nodiscard]] FakeVerbs& fabric() { return fabric_; }
  [[nodiscard]] Session& initiator() { return *initiator_; }
  [[nodiscard]] Session& responder() { return *responder_; }
  void drop_initiator() { initiator_.reset(); }

 private:
  std::unique_ptr<Session> make(nb_role role, const Point& point) {
    const Arguments arguments(role, point, host_.address());
    Options options = parse_options(arguments.get());
    check_options(options);
    return make_session(sdk::Host(host_.host()), std::move(options), {&table_, nullptr});
  }

  tcp::test::RendezvousHost host_;
  FakeVerbs fabric_;
  rdma::VerbsTable table_;
  std::unique_ptr<Session> responder_;
  std::unique_ptr<Session> initiator_;
};

}  // namespace netbench::verbs::test
