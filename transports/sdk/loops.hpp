#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/concepts.hpp"

/// The measuring loops, one definition of each number for all transports. No allocation, lock, log,
/// exception, indirect call or option branch between the first and the last line of a loop.
namespace netbench::sdk {

/// What a timed loop did: `count` samples were written, first stamp and last stamp.
struct Timed {
  std::size_t count = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Initiator of a closed-loop ping-pong: one sample is the round trip of one message. The clock is
/// read once an iteration; the end of one is the start of the next. Fewer samples than asked for
/// mean that the connection ended.
template <Clock C, PingPongEndpoint E>
Timed ping_pong(E& endpoint, C& clock, std::span<std::uint64_t> samples_ns) noexcept {
  const std::int64_t begin = clock.now_ns();
  std::int64_t previous = begin;
  std::size_t count = 0;
  for (; count < samples_ns.size(); ++count) {
    if (!endpoint.send_message() || !endpoint.receive_message()) {
      break;
    }
    const std::int64_t now = clock.now_ns();
    samples_ns[count] = static_cast<std::uint64_t>(now - previous);
    previous = now;
  }
  return {count, begin, previous};
}

/// Responder of a ping-pong: answers until the connection ends; returns the messages answered.
template <PingPongEndpoint E>
std::uint64_t echo(E& endpoint) noexcept {
  std::uint64_t count = 0;
  while (endpoint.receive_message() && endpoint.send_message()) {
    ++count;
  }
  return count;
}

/// Open loop: message i is due at begin + i × interval, whether or not earlier answers have come,
/// and its sample counts from when it was due, so that a stall is charged to every message it
/// delayed ("coordinated omission", G. Tene, wrk2). Answers come in order.
template <Clock C, PacedEndpoint E>
Timed paced_ping_pong(E& endpoint, C& clock, std::int64_t interval_ns,
                      std::span<std::uint64_t> samples_ns) noexcept {
  const std::int64_t begin = clock.now_ns();
  const auto due = [begin, interval_ns](std::size_t index) {
    return begin + static_cast<std::int64_t>(index) * interval_ns;
  };
  constexpr std::int64_t kNever = INT64_MAX;
  std::int64_t now = begin;
  std::size_t sent = 0;
  std::size_t count = 0;
  while (count < samples_ns.size()) {
    for (; sent < samples_ns.size() && due(sent) <= now; ++sent) {
      if (!endpoint.send_message()) {
        return {count, begin, now};
      }
    }
    const Arrival arrival = endpoint.receive_until(sent < samples_ns.size() ? due(sent) : kNever);
    if (arrival == Arrival::ended) {
      break;
    }
    now = clock.now_ns();
    if (arrival == Arrival::message) {
      samples_ns[count] = static_cast<std::uint64_t>(now - due(count));
      ++count;
    }
  }
  return {count, begin, now};
}

/// Operations with an untimed clean-up: two stamps an iteration, the clean-up between them is in no
/// sample.
template <Clock C, TimedOperation E>
Timed timed_operations(E& endpoint, C& clock, std::span<std::uint64_t> samples_ns) noexcept {
  Timed timed{0, clock.now_ns(), 0};
  timed.end_ns = timed.begin_ns;
  for (; timed.count < samples_ns.size(); ++timed.count) {
    const std::int64_t start = clock.now_ns();
    const bool done = endpoint.perform();
    timed.end_ns = clock.now_ns();
    endpoint.clean_up();
    if (!done) {
      break;
    }
    samples_ns[timed.count] = static_cast<std::uint64_t>(timed.end_ns - start);
  }
  return timed;
}

/// Size of a cache line on x86-64 and most arm64 parts, doubled for the adjacent-line prefetcher
/// (Intel 64 optimization manual, "spatial prefetcher").
inline constexpr std::size_t kPrivateLineBytes = 128;

/// Progress of one stream: written by its thread alone, read by any.
struct alignas(kPrivateLineBytes) StreamProgress {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> calls{0};
};

/// Sends until `stop` is set or the stream ends. Progress is published after every call.
template <StreamSender E>
void stream_send(E& endpoint, const std::atomic<bool>& stop, StreamProgress& progress) noexcept {
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const std::int64_t moved = endpoint.send_some();
    if (moved <= 0) {
      break;
    }
    bytes += static_cast<std::uint64_t>(moved);
    progress.bytes.store(bytes, std::memory_order_relaxed);
    progress.calls.store(++calls, std::memory_order_relaxed);
  }
}

/// Receives until the stream ends. Progress is published after every call.
template <StreamReceiver E>
void stream_receive(E& endpoint, StreamProgress& progress) noexcept {
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  while (true) {
    const std::int64_t moved = endpoint.receive_some();
    if (moved <= 0) {
      break;
    }
    bytes += static_cast<std::uint64_t>(moved);
    progress.bytes.store(bytes, std::memory_order_relaxed);
    progress.calls.store(++calls, std::memory_order_relaxed);
  }
}

}  // namespace netbench::sdk
