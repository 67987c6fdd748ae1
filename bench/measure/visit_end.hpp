#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/measure/end_meter.hpp"
#include "bench/measure/observe.hpp"
#include "bench/model/measurement.hpp"
#include "bench/plan/plan.hpp"
#include "bench/plugin/session.hpp"

namespace netbench::measure {

/// What one end has to do in a visit: time operations, observe a stream, or serve until stopped.
enum class Duty { time_operations, observe_stream, serve };

/// The initiator times operations; whoever receives observes.
[[nodiscard]] Duty duty_of(plugin::Role role, plan::Pattern pattern, Direction direction);

/// What an end saw; `error` where its batches failed.
struct Observation {
  std::optional<LatencyRecord> latency;
  std::optional<StreamRecord> stream;
  std::optional<Error> error;
};

/// Effective values of an end, in the names of documents.
struct EffectiveRecord {
  ValueMap values;
  std::vector<std::string> notes;
  bool capped = false;
  std::string method;
};

/// One end of one visit, the same on both hosts: runs its duty on an io thread and meters what it
/// costs. Order of calls: connect, begin, start, (wait,) stop. The destructor cancels and joins.
/// [control-thread] unless said otherwise.
class VisitEnd {
 public:
  VisitEnd(plugin::TransportSession session, plan::TransportSpec spec, Duty duty);
  ~VisitEnd();
  VisitEnd(const VisitEnd&) = delete;
  VisitEnd& operator=(const VisitEnd&) = delete;

  [[nodiscard]] Result<plugin::Blob> describe() { return session_.describe(); }
  [[nodiscard]] Status connect(const plugin::Blob& peer) { return session_.connect(peer); }
  [[nodiscard]] Result<EffectiveRecord> effective();

  /// Reads the counters, before either end may send, and looks at the host from now on. `meter`
  /// must outlive this.
  void begin(HostMeter& meter);

  /// Starts the io thread; `done` is called on it when the duty has ended by itself or by stop().
  void start(const VisitLimits& limits, std::function<void(const Observation&)> done);

  /// True when the duty has ended. [any-thread]
  [[nodiscard]] bool finished() const { return finished_; }

  /// Ends the visit in order: the observation so far is kept. `error` where the end was not
  /// orderly.
  struct Ending {
    EndRecord record;
    std::optional<Error> error;
  };
  [[nodiscard]] Ending stop(std::int64_t timeout_ns);

  /// The observation; only once finished().
  [[nodiscard]] const Observation& observation() const { return observation_; }

  /// Makes everything in progress return within 100 ms. [any-thread]
  void cancel();

 private:
  void run_duty(const VisitLimits& limits);
  [[nodiscard]] Result<BatchTimes> batch(const plugin::Batch& batch,
                                         std::span<std::uint64_t> samples);

  plugin::TransportSession session_;
  plan::TransportSpec spec_;
  Duty duty_;
  HostMeter* meter_ = nullptr;
  Observation observation_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> finished_ = false;
  std::jthread io_thread_;
};

}  // namespace netbench::measure
