#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transports/sdk/loops.hpp"
#include "transports/sdk/workers.hpp"
#include "transports/udp/session.hpp"
#include "transports/udp/tracker.hpp"

namespace netbench::udp {

/// Counts of one end of a ping-pong: written by one thread, read by any.
struct alignas(sdk::kPrivateLineBytes) PingCounts {
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> lost{0};  // not answered in time
  std::atomic<std::uint64_t> late{0};  // answered after that
  std::atomic<std::uint64_t> duplicates{0};
};

/// Workload latency. The initiator's run() sends and waits on the io thread; the responder echoes
/// on a thread of its own from connect() to close().
class PingSession final : public UdpSession {
 public:
  PingSession(sdk::Host host, const Options& options);
  ~PingSession() override;

  [[nodiscard]] const char* method() const override;
  void run(const nb_batch& batch, nb_batch_result& result) override;
  void stop(std::int64_t timeout_ns) override;
  void cancel() noexcept override;
  void counters(sdk::Sink sink) override;

 private:
  void begin() override;
  void launch_echo();
  template <class Endpoint>
  void time_operations(std::span<std::uint64_t> samples_ns, nb_batch_result& result);

  std::vector<std::byte> payload_;
  SequenceTracker answers_;
  std::uint64_t sequence_ = 0;
  PingCounts counts_;
  std::atomic<bool> halt_{false};  // run()
  std::atomic<bool> quit_{false};  // echo
  sdk::WorkerTeam echo_team_;
};

}  // namespace netbench::udp
