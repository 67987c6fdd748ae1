#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/plugin/session.hpp"
#include "bench/plugin/transport.hpp"
#include "tests/conformance/rendezvous.hpp"

namespace netbench::conformance {

/// The ABI allows 100 ms; five times that, for machines shared with others.
inline constexpr std::chrono::milliseconds kCancelLimit{500};
inline constexpr std::int64_t kStopNs = 10'000'000'000;

/// Smallest of a workload's quick sizes: cheap, and legal by declaration.
[[nodiscard]] std::int64_t small_size(const plan::Workload& workload);

/// A request at small_size with nothing but defaults.
[[nodiscard]] plugin::OpenRequest plain_request(const plan::Workload& workload,
                                                Direction direction);

/// Both ends of a point in one process, over 127.0.0.1.
class Pair {
 public:
  /// Opens both ends; throws std::runtime_error with the error's text where that fails.
  Pair(const plugin::Transport& transport, plugin::OpenRequest request);

  /// Exchanges the blobs and connects both ends at once; throws as the constructor.
  void connect();

  [[nodiscard]] plugin::TransportSession& initiator() { return *initiator_; }
  [[nodiscard]] plugin::TransportSession& responder() { return *responder_; }
  [[nodiscard]] bool receives(plugin::Role role) const;

  /// Closes the initiator's end without a stop, as when its process dies.
  void drop_initiator() { initiator_.reset(); }

  /// stop() of both ends, at the same time.
  [[nodiscard]] std::pair<Status, Status> stop();

 private:
  plugin::OpenRequest request_;
  std::unique_ptr<TestRendezvous> rendezvous_ = std::make_unique<TestRendezvous>();
  std::unique_ptr<plugin::HostServices> initiator_host_ = std::make_unique<plugin::HostServices>();
  std::unique_ptr<plugin::HostServices> responder_host_ = std::make_unique<plugin::HostServices>();
  std::optional<plugin::TransportSession> initiator_;
  std::optional<plugin::TransportSession> responder_;
};

/// The ping-pong workloads of a transport, or its streams and rates.
[[nodiscard]] std::vector<plan::Workload> workloads_of(const plugin::Transport& transport,
                                                       bool ping_pong);

[[nodiscard]] Direction first_direction(const plan::Workload& workload);

template <class Future>
[[nodiscard]] bool ends_within(const Future& future, std::chrono::nanoseconds limit) {
  return future.wait_for(limit) == std::future_status::ready;
}

/// Did a cancelled call end as one? Some have nothing to wait for and are done before.
template <class T>
void expect_cancelled_or_done(const Result<T>& result) {
  if (!result) {
    EXPECT_EQ(result.error().slug, plugin::kCancelled) << result.error().message;
  }
}

/// run() on a thread of its own, as a harness does.
[[nodiscard]] std::future<Result<plugin::BatchResult>> run_async(plugin::TransportSession& session,
                                                                 plugin::Batch batch);

/// A counter, or -1 where it is missing.
[[nodiscard]] double counter(plugin::TransportSession& session, const std::string& name);

}  // namespace netbench::conformance
