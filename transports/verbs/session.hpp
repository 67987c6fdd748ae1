#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/rdma/cm.hpp"
#include "transports/rdma/completion.hpp"
#include "transports/rdma/verbs_table.hpp"
#include "transports/sdk/host.hpp"
#include "transports/verbs/endpoint.hpp"
#include "transports/verbs/lifecycle.hpp"
#include "transports/verbs/options.hpp"
#include "transports/verbs/side_link.hpp"

namespace netbench::verbs {

/// The opened libraries; they outlive the sessions. `cm` is null where it is not needed.
struct Libraries {
  const rdma::VerbsTable* verbs = nullptr;
  const rdma::CmTable* cm = nullptr;
};

/// Nothing may happen for so long where something must. Longer than all of a reliable connection's
/// retries, so that the NIC's own verdict comes first.
[[nodiscard]] std::int64_t stall_limit_ns(const Options& options);

/// One end of one point: what all workloads share. Threads as in nb_transport.
class Session {
 public:
  Session(sdk::Host host, Options options, Libraries libraries);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  nb_blob describe();
  void connect(std::span<const nb_blob> peers);
  void effective(const sdk::EffectiveSink& sink) const;
  virtual const char* method() const = 0;
  void run(const nb_batch& batch, nb_batch_result& result);
  void stop(std::int64_t timeout_ns);
  void cancel() noexcept;
  void counters(const sdk::Sink& sink) const;

 protected:
  /// The operation that carries the payload where both ends are `in_order`, or not.
  [[nodiscard]] virtual Op carrier(bool in_order) const = 0;
  /// Both ends are ready to send: make threads.
  virtual void connected() = 0;
  virtual void run_batch(const nb_batch& batch, nb_batch_result& result) = 0;
  virtual void emit_counters(const sdk::Sink& sink) const = 0;
  /// Orderly end by `deadline`; stop has been requested of the lifecycle.
  virtual void finish(TimePoint deadline) = 0;

  /// Throws where the peer is gone or the device is removed. [io-thread]
  void look_around();
  /// Waits for stop, cancel, a failure or `until`, looking around meanwhile. [io-thread]
  void wait_until(TimePoint until);
  /// What a loop's failure is to the user.
  [[nodiscard]] sdk::Error error_of(const LoopFailure& failure) const;
  [[nodiscard]] sdk::Error mismatch(const DataFault& fault) const;
  [[nodiscard]] sdk::Error stalled() const;
  [[nodiscard]] std::string operation() const;  // "write to 10.77.0.2 by …"
  /// Both ends say a few numbers; the peer's are returned.
  [[nodiscard]] std::vector<std::uint64_t> exchange_numbers(std::span<const std::uint64_t> mine,
                                                            TimePoint deadline);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Lifecycle& life() { return life_; }
  [[nodiscard]] const Lifecycle& life() const { return life_; }
  [[nodiscard]] SideLink& side() { return side_; }
  [[nodiscard]] Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] Op chosen() const { return chosen_; }
  /// Slots that the peer's sends go round in.
  [[nodiscard]] std::uint64_t peer_depth() const { return peer_depth_; }

 private:
  void meet(const nb_blob& peer);
  void connect_queue_pairs(const rdma::EndAddress& peer);
  void become_ready(const rdma::EndAddress& peer);
  void tell_failure(const sdk::Error& error) noexcept;
  void require_connected() const;

  sdk::Host host_;
  Options options_;
  Libraries libraries_;
  TimePoint deadline_;
  Lifecycle life_;
  SideLink side_;
  Endpoint endpoint_;
  std::optional<Token> token_;  // responder's
  std::vector<std::uint8_t> blob_;
  Op chosen_ = Op::write;
  std::uint64_t peer_depth_ = 1;
  bool connected_ = false;
};

[[nodiscard]] std::unique_ptr<Session> make_latency_session(sdk::Host host, Options options,
                                                            Libraries libraries);
[[nodiscard]] std::unique_ptr<Session> make_stream_session(sdk::Host host, Options options,
                                                           Libraries libraries);
/// The session of the options' workload.
[[nodiscard]] std::unique_ptr<Session> make_session(sdk::Host host, Options options,
                                                    Libraries libraries);

/// Emits the effective value of every tunable that applies to the workload.
void report_effective(const Endpoint& endpoint, const sdk::EffectiveSink& sink);

}  // namespace netbench::verbs
