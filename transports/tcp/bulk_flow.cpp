#include "transports/tcp/bulk_flow.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/thread_use.hpp"
#include "transports/tcp/tcp_info.hpp"
#include "transports/tcp/throttle.hpp"

namespace netbench::tcp {
namespace {

constexpr std::int64_t kLoadMessageBytes = 128 * kKiB;

constexpr std::int64_t kReceiveBytes = 16 * kMiB;
constexpr std::int64_t kSmallestChunk = 128 * kKiB;
constexpr std::int64_t kLargestChunk = 2 * kMiB;
constexpr std::int64_t kDiscardBytes = 64 * kMiB;  // no memory behind it

/// Measured at 1 Gb/s and 40 ms: marks of half of the first buffer kept its window for good, a
/// quarter of what the buffer has become never did (8 of 8 runs).
constexpr int kLowWaterShare = 4;

/// A look at the counters that took longer than this was interrupted, and is repeated.
constexpr std::int64_t kCleanLookNs = 100'000;
constexpr int kLooks = 3;

/// 64 KiB at 26 Mbit/s; slower streams have errors of one lump a window.
constexpr std::int64_t kLongestLumpNs = 20'000'000;
constexpr std::chrono::microseconds kBetweenLooks{20};

/// Takes the peer's end, which says that its application has all that was sent.
void await_end_of_peer(int fd) {
  std::array<char, 256> scrap{};
  while (true) {
    const ssize_t moved = ::recv(fd, scrap.data(), scrap.size(), 0);
    if (moved == 0 || (moved < 0 && errno != EINTR)) {
      return;
    }
  }
}

}  // namespace

std::size_t bulk_message_bytes(const Options& options) {
  const auto message = static_cast<std::size_t>(
      options.workload == WorkloadId::loaded_latency ? kLoadMessageBytes : options.message_bytes);
  const auto rate_bps = options.write_rate_of_stream();
  return rate_bps ? std::min(throttled_bytes(*rate_bps), message) : message;
}

ReceivePlan receive_plan(const Options& options) {
  // Large takes after few wake-ups cost the least CPU time a byte, as measured on veth; all
  // streams' buffers together stay within a usual last-level cache.
  const std::int64_t share = kReceiveBytes / std::max<std::int64_t>(options.connections(), 1);
  const std::int64_t buffer = std::clamp(share, kSmallestChunk, kLargestChunk);
  const bool discards = options.receive == Receive::discard;
  if (const auto rate_bps = options.read_rate_of_stream()) {
    // The rest stays in the kernel, so that the window closes: a low-water mark would widen it.
    const auto most = static_cast<std::size_t>(buffer);
    return {std::min(throttled_bytes(*rate_bps), most), options.lowat.value_or(1), 1};
  }
  const bool follows = !options.lowat && !options.rcvbuf;
  return {static_cast<std::size_t>(discards ? kDiscardBytes : buffer), options.lowat.value_or(1),
          follows ? buffer / 2 : 1};
}

BulkFlow::BulkFlow(const Options& options, Lifecycle& life, std::span<const int> fds)
    : options_(options), life_(life) {
  for (const int fd : fds) {
    auto lane = std::make_unique<Lane>();
    lane->fd = fd;
    lane->base_bytes = TcpInfo::read(fd).bytes_received().value_or(0);
    lanes_.push_back(std::move(lane));
    apply_low_water(fd);
  }
  team_.launch(make_jobs());
  for (const auto& lane : lanes_) {
    if (lane->failure) {
      throw sdk::Error(*lane->failure);
    }
  }
}

BulkFlow::~BulkFlow() {
  stop_ = true;
  team_.join();
}

void BulkFlow::apply_low_water(int fd) const {
  const std::int64_t bytes = receive_plan(options_).low_water_bytes;
  if (options_.receives_bulk() && bytes > 1) {
    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, static_cast<int>(bytes), "lowat");
  }
}

void BulkFlow::follow_buffers() const {
  const std::int64_t most = receive_plan(options_).most_low_water_bytes;
  if (!options_.receives_bulk() || most <= 1) {
    return;
  }
  for (const auto& lane : lanes_) {
    const std::int64_t buffer = get_option<int>(lane->fd, SOL_SOCKET, SO_RCVBUF).value_or(0);
    const std::int64_t mark = get_option<int>(lane->fd, SOL_SOCKET, SO_RCVLOWAT).value_or(1);
    const int wanted = static_cast<int>(std::min(buffer / kLowWaterShare, most));
    if (wanted > mark) {
      ::setsockopt(lane->fd, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    }
  }
}

void BulkFlow::start() { team_.start(); }

void BulkFlow::request_stop() {
  stop_ = true;
  team_.start();
}

void BulkFlow::sender_ended(Lane& lane, int reason) {
  const bool asked = stop_.load();
  ::shutdown(lane.fd, SHUT_WR);
  if (!asked) {
    report_broken(reason);
  } else if (!options_.receives_bulk()) {
    await_end_of_peer(lane.fd);
  }
}

void BulkFlow::receiver_ended(Lane& lane, int reason) {
  if (!options_.sends_bulk()) {
    ::shutdown(lane.fd, SHUT_WR);
  }
  if (!stop_.load() || reason != 0) {
    report_broken(reason);
  }
}

void BulkFlow::report_broken(int reason) {
  // The first reason that is more than an end of stream stays.
  int expected = 0;
  reason_.compare_exchange_strong(expected, reason);
  broken_.store(true, std::memory_order_release);
  life_.notify();
}

std::uint64_t BulkFlow::lane_received(const Lane& lane) const {
  if (!options_.receives_bulk()) {
    return 0;
  }
  if (const auto bytes = TcpInfo::read(lane.fd).bytes_received()) {
    return *bytes - lane.base_bytes;
  }
  return lane.received.bytes.load(std::memory_order_relaxed);
}

ReceivedSample BulkFlow::sample() const {
  ReceivedSample sample;
  for (int look = 0; look < kLooks; ++look) {
    sample.bytes = 0;
    sample.before_ns = sdk::MonotonicClock::now_ns();
    for (const auto& lane : lanes_) {
      sample.bytes += lane_received(*lane);
    }
    sample.after_ns = sdk::MonotonicClock::now_ns();
    if (sample.after_ns - sample.before_ns <= kCleanLookNs) {
      break;
    }
  }
  return sample;
}

ReceivedSample BulkFlow::sample_at_arrival() const {
  const ReceivedSample first = sample();
  ReceivedSample latest = first;
  while (latest.bytes == first.bytes && latest.before_ns - first.before_ns < kLongestLumpNs &&
         !stop_ && !broken()) {
    std::this_thread::sleep_for(kBetweenLooks);
    latest = sample();
  }
  return latest;
}

std::uint64_t BulkFlow::sent_bytes() const {
  std::uint64_t total = 0;
  for (const auto& lane : lanes_) {
    total += lane->sent.bytes.load(std::memory_order_relaxed);
  }
  return total;
}

std::uint64_t BulkFlow::received_bytes() const {
  std::uint64_t total = 0;
  for (const auto& lane : lanes_) {
    total += lane->received.bytes.load(std::memory_order_relaxed);
  }
  return total;
}

void BulkFlow::emit_counters(const sdk::Sink& sink, std::size_t first_thread) const {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t completions = 0;
  std::uint64_t copied = 0;
  for (const auto& lane : lanes_) {
    sends += lane->sent.calls.load(std::memory_order_relaxed);
    receives += lane->received.calls.load(std::memory_order_relaxed);
    completions += lane->zerocopy.completions.load(std::memory_order_relaxed);
    copied += lane->zerocopy.copied.load(std::memory_order_relaxed);
  }
  sink.number("calls.send", static_cast<double>(sends));
  sink.number("calls.recv", static_cast<double>(receives));
  if (options_.mode == Mode::zerocopy && options_.sends_bulk()) {
    sink.number("zerocopy.completions", static_cast<double>(completions));
    sink.number("zerocopy.copied", static_cast<double>(copied));
  }
  emit_thread_counters(sink, first_thread);
}

void BulkFlow::emit_thread_counters(const sdk::Sink& sink, std::size_t first_thread) const {
  sdk::ThreadUseSum senders;
  sdk::ThreadUseSum receivers;
  for (std::size_t index = 0; index < team_.size(); ++index) {
    const sdk::ThreadUse use = team_.use(index);
    const ThreadRole& role = roles_[index];
    (role.sends ? senders : receivers)
        .add(use, static_cast<double>(role.idle_ns->load(std::memory_order_relaxed)) * 1e-9);
    sink.number("thread." + std::to_string(first_thread + index) + ".cpu_s", use.cpu_s);
  }
  senders.emit(sink, "send");
  receivers.emit(sink, "recv");
}

}  // namespace netbench::tcp
