#pragma once

#include <poll.h>

#include <cstdint>

#include "transports/rdma/fast_path.hpp"
#include "transports/rdma/objects.hpp"
#include "transports/sdk/clock.hpp"
#include "transports/verbs/tables.hpp"

namespace netbench::verbs {

/// What a loop does when its completion queue is empty. One thread's; nothing here throws.
template <Wait kWait>
class Waiter {
 public:
  /// Both may be null where it only polls.
  Waiter(rdma::CompletionQueue* queue, rdma::CompletionChannel* channel) noexcept
      : queue_(queue), channel_(channel) {}

  /// Completions came.
  void busy() noexcept { spinning_since_ns_ = 0; }

  /// None came. True where time has passed that a look at the rest of the world is worth: about
  /// every kSleepMs of sleep, or kSpinsPerLook calls.
  [[nodiscard]] bool idle() noexcept {
    ++spins_;
    if constexpr (kWait == Wait::poll) {
      return spins_ % kSpinsPerLook == 0;
    } else {
      return spins_ % kSpinsPerClock == 0 ? rest() : false;
    }
  }

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  static constexpr std::uint32_t kSpinsPerLook = 1 << 14;
  static constexpr std::uint32_t kSpinsPerClock = kWait == Wait::event ? 1 : 16;
  static constexpr std::int64_t kSpinNs = kWait == Wait::event ? 0 : 50'000;
  static constexpr int kSleepMs = 10;

  [[nodiscard]] bool rest() noexcept {
    const std::int64_t now = sdk::MonotonicClock::now_ns();
    if (spinning_since_ns_ == 0) {
      spinning_since_ns_ = now;
    }
    return now - spinning_since_ns_ >= kSpinNs && sleep();
  }

  /// An event is asked for first, then the queue is polled once more by the caller, then comes
  /// sleep (ibv_get_cq_event(3)).
  [[nodiscard]] bool sleep() noexcept {
    if (!armed_) {
      armed_ = rdma::request_event(queue_->get()) == 0;
      spins_ = kSpinsPerClock - 1;  // back at once if the queue is still empty
      return false;
    }
    pollfd ready{channel_->fd(), POLLIN, 0};
    if (::poll(&ready, 1, kSleepMs) > 0 && channel_->take_event()) {
      queue_->count_event();
      ++events_;
      armed_ = false;
    }
    spins_ = kSpinsPerClock - 1;
    return true;
  }

  rdma::CompletionQueue* queue_;
  rdma::CompletionChannel* channel_;
  std::uint32_t spins_ = 0;
  bool armed_ = false;
  std::int64_t spinning_since_ns_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace netbench::verbs
