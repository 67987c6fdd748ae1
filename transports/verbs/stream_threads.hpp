#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transports/sdk/host.hpp"
#include "transports/sdk/workers.hpp"
#include "transports/verbs/endpoint.hpp"
#include "transports/verbs/lifecycle.hpp"
#include "transports/verbs/stream_loop.hpp"

namespace netbench::verbs {

/// A loop whose class was chosen.
class StreamRunner {
 public:
  virtual ~StreamRunner() = default;
  [[nodiscard]] virtual bool run(const StreamOrders& orders) noexcept = 0;
  [[nodiscard]] virtual const LoopFailure& failure() const noexcept = 0;
};

/// What the threads of an end did together.
struct StreamTotals {
  std::uint64_t posted = 0;
  std::uint64_t records = 0;
  std::uint64_t completed = 0;
  std::uint64_t received = 0;
  std::uint64_t polls = 0;
  std::uint64_t completions = 0;
  std::uint64_t events = 0;
};

/// The threads of one end, one a group of queue pairs; none where this end is a mere target.
/// [control-thread] unless said otherwise.
class StreamThreads {
 public:
  /// Makes and prepares them; throws. The endpoint has its rings, and outlives this.
  StreamThreads(Endpoint& endpoint, Lifecycle& life);
  StreamThreads(const StreamThreads&) = delete;
  StreamThreads& operator=(const StreamThreads&) = delete;
  ~StreamThreads();

  /// Further calls do nothing. [any-thread]
  void start() { team_.start(); }
  /// Nothing more is posted once what is under way has completed. [any-thread]
  void stop_posting();
  /// Whether nothing is under way. [any-thread]
  [[nodiscard]] bool drained() const;
  /// Leaves whatever is under way; returns when all threads have ended.
  void end();

  /// [any-thread]
  [[nodiscard]] StreamTotals totals() const;
  /// The first loop that failed, with its failure; only once a failure was reported. [any-thread]
  [[nodiscard]] const LoopFailure* failure() const { return failed_.load(); }
  [[nodiscard]] std::uint64_t receive_doorbells() const;  // after end()
  [[nodiscard]] std::uint64_t reordered() const;          // after end()
  void emit_use(const sdk::Sink& sink) const;

 private:
  [[nodiscard]] sdk::Job job_of(std::size_t index);

  Endpoint& endpoint_;
  Lifecycle& life_;
  std::atomic<bool> stop_{false};
  std::atomic<const LoopFailure*> failed_{nullptr};
  std::vector<std::unique_ptr<StreamCounts>> counts_;
  std::vector<std::unique_ptr<StreamRunner>> runners_;
  sdk::WorkerTeam team_;
};

}  // namespace netbench::verbs
