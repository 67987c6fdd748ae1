#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transports/sdk/workers.hpp"
#include "transports/udp/receiver.hpp"
#include "transports/udp/sender.hpp"
#include "transports/udp/session.hpp"

namespace netbench::udp {

/// Workloads bandwidth and message_rate. Each socket has a reading thread from connect() to
/// close(), and a sending thread where this end sends, from the first run() to stop().
class StreamSession final : public UdpSession {
 public:
  StreamSession(sdk::Host host, const Options& options);
  ~StreamSession() override;

  [[nodiscard]] const char* method() const override { return method_.c_str(); }
  void run(const nb_batch& batch, nb_batch_result& result) override;
  void stop(std::int64_t timeout_ns) override;
  void cancel() noexcept override;
  void counters(sdk::Sink sink) override;

 private:
  struct Totals;

  void begin() override;
  [[nodiscard]] SenderPlan sender_plan(std::size_t index) const;
  void launch_receivers();
  void launch_senders();

  void observe(std::int64_t duration_ns, nb_batch_result& result);
  [[nodiscard]] std::uint64_t received() const;

  void end_sending();
  void send_totals();
  [[nodiscard]] bool all_acknowledged() const;
  [[nodiscard]] bool peer_ended(std::int64_t quiet_since_ns) const;
  [[nodiscard]] Totals totals();
  void tell_received(sdk::Sink sink, const Totals& totals) const;

  std::string method_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::vector<std::unique_ptr<SocketDrops>> drops_;
  std::atomic<bool> halt_{false};  // senders
  std::atomic<bool> quit_{false};  // receivers

  // [io-thread]
  bool observing_ = false;
  std::int64_t window_begin_ns_ = 0;
  std::uint64_t window_begin_count_ = 0;

  sdk::WorkerTeam receiver_team_;
  sdk::WorkerTeam sender_team_;
};

}  // namespace netbench::udp
