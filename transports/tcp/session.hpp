#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/host.hpp"
#include "transports/tcp/lifecycle.hpp"
#include "transports/tcp/links.hpp"
#include "transports/tcp/options.hpp"

namespace netbench::tcp {

/// One end of one point: what all workloads share, the connections above all. Threads as in
/// nb_transport.
class Session {
 public:
  Session(sdk::Host host, Options options);
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
  /// The connections are there: make buffers and threads. Throws.
  virtual void connected() = 0;
  /// One batch on a connected session, marked as running. Throws.
  virtual void run_batch(const nb_batch& batch, nb_batch_result& result) = 0;
  virtual void emit_counters(const sdk::Sink& sink) const = 0;
  /// Orderly end by `deadline`; stop has been requested of the lifecycle. Throws.
  virtual void finish(TimePoint deadline) = 0;
  /// cancel() was called: anything to wake beside the connections. [any-thread]
  virtual void wake() noexcept {}

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Lifecycle& life() { return life_; }
  [[nodiscard]] Links& links() { return links_; }
  [[nodiscard]] const Links& links() const { return links_; }

 private:
  void issue_tokens();
  void prepare_listener();
  void require_connected() const;

  sdk::Host host_;
  Options options_;
  TimePoint deadline_;
  Lifecycle life_;
  Links links_;
  bool connected_ = false;
  std::vector<Token> tokens_;
  std::vector<std::uint8_t> blob_;
};

[[nodiscard]] std::unique_ptr<Session> make_latency_session(sdk::Host host, Options options);
[[nodiscard]] std::unique_ptr<Session> make_stream_session(sdk::Host host, Options options);
[[nodiscard]] std::unique_ptr<Session> make_loaded_session(sdk::Host host, Options options);
[[nodiscard]] std::unique_ptr<Session> make_connect_session(sdk::Host host, Options options);

/// Emits the effective value of every tunable that applies to the workload; `fds` may be empty.
void report_effective(const Options& options, std::span<const int> fds,
                      const sdk::EffectiveSink& sink);

}  // namespace netbench::tcp
