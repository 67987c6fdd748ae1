#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transports/sdk/host.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/sdk/workers.hpp"
#include "transports/tcp/lifecycle.hpp"
#include "transports/tcp/links.hpp"
#include "transports/tcp/options.hpp"
#include "transports/tcp/stream_endpoints.hpp"

namespace netbench::tcp {

/// How the receiving threads take data.
struct ReceivePlan {
  std::size_t chunk_bytes;
  std::int64_t low_water_bytes;       // when the stream begins
  std::int64_t most_low_water_bytes;  // it follows the kernel's buffer up to this
};
[[nodiscard]] ReceivePlan receive_plan(const Options& options);

/// Size of one send of the bulk streams: the message, but 128 KiB beside paced messages, and no
/// more than a write rate allows in 10 ms.
[[nodiscard]] std::size_t bulk_message_bytes(const Options& options);

/// Bytes that had arrived at some moment between two stamps of the clock.
struct ReceivedSample {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::uint64_t bytes = 0;
};

/// The bulk streams of one end: a sending and/or a receiving thread on each connection, going on
/// across the batches. [control-thread] unless said otherwise.
class BulkFlow {
 public:
  /// Makes and prepares the threads; throws. The sockets stay the caller's and must outlive this.
  BulkFlow(const Options& options, Lifecycle& life, std::span<const int> fds);
  BulkFlow(const BulkFlow&) = delete;
  BulkFlow& operator=(const BulkFlow&) = delete;
  /// The sockets must have been shut down, or drained: threads are joined here.
  ~BulkFlow();

  /// Lets all threads go at once; further calls do nothing. [any-thread]
  void start();
  /// Few wake-ups cost little CPU time a byte, but a mark of about the window's size keeps the
  /// kernel from widening it: the mark is raised to a quarter of what the buffer has become, where
  /// it was left to us. For a call some ten times a second. [any-thread]
  void follow_buffers() const;
  /// Senders half-close, receivers run until the peer's end. [any-thread]
  void request_stop();
  [[nodiscard]] bool wait_drained(TimePoint deadline) { return team_.wait_all(deadline); }

  /// Payload that arrived since the threads were made, by the kernel's own counters, so that a
  /// receiving thread that is not scheduled moves no bytes from one window into the next.
  /// [any-thread]
  [[nodiscard]] ReceivedSample sample() const;
  /// As sample(), but just after data arrived, or after 20 ms without. Offloads deliver lumps of up
  /// to 64 KiB: between two arrivals, bytes over time is exact, between two arbitrary moments it is
  /// a lump too much or too little. [any-thread]
  [[nodiscard]] ReceivedSample sample_at_arrival() const;

  /// Whether a stream ended though nobody stopped it, and why: errno, 0 where the peer closed.
  /// [any-thread]
  [[nodiscard]] bool broken() const { return broken_.load(std::memory_order_acquire); }
  [[nodiscard]] int reason() const { return reason_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t sent_bytes() const;
  [[nodiscard]] std::uint64_t received_bytes() const;
  /// `calls.send`, `calls.recv`, `zerocopy.*`, `send.*`, `recv.*` and `thread.<n>.cpu_s` from
  /// `first_thread` on.
  void emit_counters(const sdk::Sink& sink, std::size_t first_thread) const;

 private:
  /// One connection.
  struct Lane {
    int fd = -1;
    std::uint64_t base_bytes = 0;  // the kernel's counter when the threads were made
    sdk::StreamProgress sent;
    sdk::StreamProgress received;
    ZerocopyCounts zerocopy;
    std::atomic<std::int64_t> sender_idle_ns{0};  // asleep in the own throttle
    std::atomic<std::int64_t> receiver_idle_ns{0};
    std::optional<sdk::Error> failure;  // of prepare()
  };
  using MakeJob = sdk::Job (*)(BulkFlow&, Lane&);

  /// What a thread of the team does.
  struct ThreadRole {
    bool sends;
    const std::atomic<std::int64_t>* idle_ns;
  };

  template <class Sender>
  [[nodiscard]] Sender make_sender(Lane& lane) const;
  template <class Receiver>
  [[nodiscard]] Receiver make_receiver(Lane& lane) const;
  template <class Sender>
  static sdk::Job sender_job(BulkFlow& flow, Lane& lane);
  template <class Receiver>
  static sdk::Job receiver_job(BulkFlow& flow, Lane& lane);

  void sender_ended(Lane& lane, int reason);
  void receiver_ended(Lane& lane, int reason);
  void report_broken(int reason);
  void apply_low_water(int fd) const;
  [[nodiscard]] std::vector<sdk::Job> make_jobs();
  void emit_thread_counters(const sdk::Sink& sink, std::size_t first_thread) const;
  [[nodiscard]] std::uint64_t lane_received(const Lane& lane) const;

  const Options& options_;
  Lifecycle& life_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<ThreadRole> roles_;  // in the order of the team's threads
  std::atomic<bool> stop_{false};
  std::atomic<bool> broken_{false};
  std::atomic<int> reason_{0};
  sdk::WorkerTeam team_;
};

}  // namespace netbench::tcp
