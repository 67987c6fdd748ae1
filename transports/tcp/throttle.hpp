#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/concepts.hpp"

/// An application that is slower than its connection: ends of a stream that sleep between calls.
namespace netbench::tcp {

/// Bytes of a slow application's call: what 10 ms allow, at least one.
[[nodiscard]] inline std::size_t throttled_bytes(std::int64_t rate_bps) {
  constexpr std::int64_t kCallsPerSecond = 100;
  return static_cast<std::size_t>(std::max<std::int64_t>(rate_bps / 8 / kCallsPerSecond, 1));
}

/// Keeps one thread to a rate by sleeping. A delay is made up for no longer than 10 ms, so that the
/// rate is never exceeded over more than that.
class Throttle {
 public:
  /// No sleep begins once `released` is set. `idle_ns` counts the sleeps that were meant; waking up
  /// late is not the application's choice. Both must outlive this.
  Throttle(std::int64_t rate_bps, const std::atomic<bool>& released,
           std::atomic<std::int64_t>& idle_ns) noexcept
      : ns_per_byte_(8e9 / static_cast<double>(rate_bps)),
        released_(&released),
        idle_ns_(&idle_ns) {}

  /// Sleeps until the bytes so far are within the rate.
  void await_turn() noexcept {
    const std::int64_t now = sdk::MonotonicClock::now_ns();
    const auto due_ns = static_cast<std::int64_t>(due_ns_);
    if (due_ns < now - kMadeUpNs) {
      due_ns_ = static_cast<double>(now - (due_ns == 0 ? 0 : kMadeUpNs));
    } else if (due_ns - now >= kShortestSleepNs && !released_->load(std::memory_order_relaxed)) {
      const timespec until{due_ns / kSecondNs, due_ns % kSecondNs};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
      idle_ns_->store(idle_ns_->load(std::memory_order_relaxed) + due_ns - now,
                      std::memory_order_relaxed);
    }
  }
  void moved(std::int64_t bytes) noexcept {
    due_ns_ += ns_per_byte_ * static_cast<double>(std::max<std::int64_t>(bytes, 0));
  }

 private:
  static constexpr std::int64_t kSecondNs = 1'000'000'000;
  static constexpr std::int64_t kMadeUpNs = 10'000'000;
  static constexpr std::int64_t kShortestSleepNs = 1'000'000;  // small messages go out in bursts

  double ns_per_byte_;
  double due_ns_ = 0;  // CLOCK_MONOTONIC when the next byte may move
  const std::atomic<bool>* released_;
  std::atomic<std::int64_t>* idle_ns_;
};

/// A sender that offers no more than a rate.
template <sdk::StreamSender Sender>
class ThrottledSender {
 public:
  using Inner = Sender;
  ThrottledSender(Sender inner, const Throttle& throttle) noexcept
      : inner_(std::move(inner)), throttle_(throttle) {}

  [[nodiscard]] std::int64_t send_some() noexcept {
    throttle_.await_turn();
    const std::int64_t moved = inner_.send_some();
    throttle_.moved(moved);
    return moved;
  }
  void finish() noexcept { inner_.finish(); }

 private:
  Sender inner_;
  Throttle throttle_;
};

/// A receiver that takes no more than a rate.
template <sdk::StreamReceiver Receiver>
class ThrottledReceiver {
 public:
  using Inner = Receiver;
  ThrottledReceiver(Receiver inner, const Throttle& throttle) noexcept
      : inner_(std::move(inner)), throttle_(throttle) {}

  [[nodiscard]] std::int64_t receive_some() noexcept {
    throttle_.await_turn();
    const std::int64_t moved = inner_.receive_some();
    throttle_.moved(moved);
    return moved;
  }

 private:
  Receiver inner_;
  Throttle throttle_;
};

}  // namespace netbench::tcp
