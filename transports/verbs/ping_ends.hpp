#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/rdma/completion.hpp"
#include "transports/rdma/fast_path.hpp"
#include "transports/sdk/clock.hpp"
#include "transports/sdk/concepts.hpp"
#include "transports/verbs/rings.hpp"
#include "transports/verbs/side_link.hpp"
#include "transports/verbs/stream_loop.hpp"
#include "transports/verbs/waiter.hpp"

/// The ends of a ping-pong, one class a way to learn that a message is there.
namespace netbench::verbs {

/// Why an end stopped waiting.
enum class GaveUp { no, told_to, peer_gone, stalled };

/// Looks at the rest of the world while an end waits.
class Patience {
 public:
  /// `stall_ns`: how long nothing may happen; 0: for ever.
  Patience(const std::atomic<bool>& quit, const SideLink& side, std::int64_t stall_ns) noexcept
      : quit_(&quit), side_(&side), stall_ns_(stall_ns) {}

  void progress() noexcept { since_ns_ = 0; }
  /// False where waiting has no sense any more.
  [[nodiscard]] bool keep_waiting() noexcept;
  [[nodiscard]] GaveUp why() const noexcept { return why_; }

 private:
  const std::atomic<bool>* quit_;
  const SideLink* side_;
  std::int64_t stall_ns_;
  std::int64_t since_ns_ = 0;
  GaveUp why_ = GaveUp::no;
};

/// Messages and calls of one end: written by its thread, read by any.
struct alignas(sdk::kPrivateLineBytes) PingCounts {
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> polls{0};
  std::atomic<std::uint64_t> completions{0};
  std::atomic<std::uint64_t> events{0};
};

/// What all ends share; the rings and the rest outlive it.
struct PingParts {
  SendRing* send = nullptr;
  ReceiveRing* receive = nullptr;  // two-sided operations
  rdma::CompletionQueue* queue = nullptr;
  rdma::CompletionChannel* channel = nullptr;
  PingCounts* counts = nullptr;
  std::byte* target = nullptr;  // where the peer's writes land
  std::size_t message_bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t compare_every = 1;  // messages compared whole after they were answered
};

/// Waits for completions.
template <Op kOp, Wait kWait>
class CompletionPing {
 public:
  CompletionPing(const PingParts& parts, const Patience& patience) noexcept
      : parts_(parts),
        waiter_(parts.queue, parts.channel),
        patience_(patience),
        sampler_(parts.compare_every) {}

  [[nodiscard]] bool send_message() noexcept {
    while (!parts_.send->has_room_for_one()) [[unlikely]] {
        if (!reap()) {
          return false;
        }
      }
    const int error = parts_.send->template post_one<kOp>();
    if (error != 0) [[unlikely]] {
      return refuse(error, "posting a send");
    }
    parts_.counts->sent.store(++sent_, std::memory_order_relaxed);
    return kOneSided || restore_receives();
  }

  [[nodiscard]] bool receive_message() noexcept {
    arrived_ = false;
    while (!arrived_) {
      if (!reap()) [[unlikely]] {
        return false;
      }
    }
    patience_.progress();
    waiter_.busy();
    parts_.counts->received.store(++received_, std::memory_order_relaxed);
    parts_.counts->polls.store(polls_, std::memory_order_relaxed);
    parts_.counts->completions.store(completions_taken_, std::memory_order_relaxed);
    parts_.counts->events.store(waiter_.events(), std::memory_order_relaxed);
    return true;
  }

  /// Compares the last message whole, between batches.
  [[nodiscard]] bool check_last() noexcept {
    if constexpr (kOp == Op::read) {
      return parts_.send->check_last_read() || blame(parts_.send->fault());
    } else if constexpr (!kOneSided) {
      return parts_.receive->check_last() || blame(parts_.receive->fault());
    }
    return true;
  }

  [[nodiscard]] const LoopFailure& failure() const noexcept { return failure_; }
  [[nodiscard]] GaveUp gave_up() const noexcept { return patience_.why(); }

 private:
  static constexpr bool kOneSided =
      kOp == Op::read || kOp == Op::fetch_add || kOp == Op::compare_swap;
  static constexpr int kBatch = 4;

  /// After the answer is on its way: the message is compared now and then, its receive given back.
  [[nodiscard]] bool restore_receives() noexcept {
    if (sampler_.due() && !check_last()) [[unlikely]] {
      return false;
    }
    return parts_.receive->post_again() || refuse(parts_.receive->refused(), "posting a receive");
  }

  [[nodiscard]] bool reap() noexcept {
    std::array<ibv_wc, kBatch> completions;
    const int taken = rdma::poll_cq(parts_.queue->get(), kBatch, completions.data());
    ++polls_;
    if (taken <= 0) {
      if (taken < 0) [[unlikely]] {
        return refuse(-taken, "polling completions");
      }
      return !waiter_.idle() || patience_.keep_waiting();
    }
    completions_taken_ += static_cast<std::uint64_t>(taken);
    for (int i = 0; i < taken; ++i) {
      if (!take(completions[static_cast<std::size_t>(i)])) [[unlikely]] {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool take(const ibv_wc& completion) noexcept {
    if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
      failure_.completions.add(completion);
      return false;
    }
    if constexpr (!kOneSided) {
      if ((completion.opcode & IBV_WC_RECV) != 0) {
        arrived_ = true;
        return parts_.receive->template accept_one<kOp>() || blame(parts_.receive->fault());
      }
    } else {
      arrived_ = true;
    }
    return parts_.send->template complete_interval<kOp>() || blame(parts_.send->fault());
  }

  [[nodiscard]] bool blame(const DataFault& fault) noexcept {
    failure_.fault = &fault;
    return false;
  }
  [[nodiscard]] bool refuse(int error, const char* what) noexcept {
    failure_.refused_errno = error;
    failure_.refused = what;
    return false;
  }

  PingParts parts_;
  Waiter<kWait> waiter_;
  Patience patience_;
  rdma::Sampler sampler_;
  bool arrived_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t completions_taken_ = 0;
  LoopFailure failure_;
};

/// Plain writes both ways; the end of the message in memory tells that it is there. Only where the
/// device promises that it comes last.
template <Wait kWait>
class MemoryPing {
 public:
  static_assert(kWait != Wait::event, "memory gives no events");

  MemoryPing(const PingParts& parts, const Patience& patience) noexcept
      : parts_(parts), patience_(patience), sampler_(parts.compare_every) {}

  [[nodiscard]] bool send_message() noexcept {
    if (sent_ % kMessagesPerReap == 0 && !reap()) [[unlikely]] {
      return false;
    }
    while (!parts_.send->has_room_for_one()) [[unlikely]] {
        if (!reap() || !patience_.keep_waiting()) {
          return false;
        }
      }
    const int error = parts_.send->template post_one<Op::write>();
    if (error != 0) [[unlikely]] {
      failure_.refused_errno = error;
      failure_.refused = "posting a write";
      return false;
    }
    parts_.counts->sent.store(++sent_, std::memory_order_relaxed);
    return !sampler_.due() || check_last();
  }

  [[nodiscard]] bool receive_message() noexcept {
    const std::uint64_t expected = rdma::carried(received_ + 1, parts_.message_bytes);
    while (rdma::peek_sequence(parts_.target, parts_.message_bytes) != expected) {
      if (++spins_ % kSpinsPerClock == 0 && !rest()) [[unlikely]] {
        return false;
      }
    }
    resting_since_ns_ = 0;
    patience_.progress();
    parts_.counts->received.store(++received_, std::memory_order_relaxed);
    return true;
  }

  [[nodiscard]] bool check_last() noexcept {
    const auto body = body_of(parts_.target, parts_.message_bytes);
    if (received_ == 0) {
      return true;
    }
    if (auto wrong = rdma::compare_pattern(body, parts_.seed)) {
      fault_ = {true, 0, 0, wrong};
      failure_.fault = &fault_;
      return false;
    }
    return true;
  }

  [[nodiscard]] const LoopFailure& failure() const noexcept { return failure_; }
  [[nodiscard]] GaveUp gave_up() const noexcept { return patience_.why(); }

 private:
  static constexpr std::uint32_t kSpinsPerClock = 1 << 8;
  static constexpr std::uint64_t kMessagesPerReap = 16;
  static constexpr std::int64_t kSpinNs = 50'000;
  static constexpr std::int64_t kLookNs = 10'000'000;

  /// Lets others have the CPU after a while, and looks at errors and at the world now and then.
  [[nodiscard]] bool rest() noexcept {
    const std::int64_t now = sdk::MonotonicClock::now_ns();
    if (resting_since_ns_ == 0) {
      resting_since_ns_ = now;
      looked_at_ns_ = now;
    }
    if (kWait == Wait::adaptive && now - resting_since_ns_ >= kSpinNs) {
      ::sched_yield();
    }
    if (now - looked_at_ns_ < kLookNs) {
      return true;
    }
    looked_at_ns_ = now;
    return reap() && patience_.keep_waiting();
  }

  [[nodiscard]] bool reap() noexcept {
    std::array<ibv_wc, 4> completions;
    const int taken = rdma::poll_cq(parts_.queue->get(), 4, completions.data());
    parts_.counts->polls.store(++polls_, std::memory_order_relaxed);
    for (int i = 0; i < taken; ++i) {
      const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
      if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
        failure_.completions.add(completion);
        return false;
      }
      (void)parts_.send->template complete_interval<Op::write>();
      parts_.counts->completions.fetch_add(1, std::memory_order_relaxed);
    }
    return true;
  }

  PingParts parts_;
  Patience patience_;
  rdma::Sampler sampler_;
  std::uint32_t spins_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t polls_ = 0;
  std::int64_t resting_since_ns_ = 0;
  std::int64_t looked_at_ns_ = 0;
  DataFault fault_;
  LoopFailure failure_;
};

static_assert(sdk::PingPongEndpoint<CompletionPing<Op::send, Wait::adaptive>>);
static_assert(sdk::PingPongEndpoint<CompletionPing<Op::read, Wait::event>>);
static_assert(sdk::PingPongEndpoint<MemoryPing<Wait::poll>>);

}  // namespace netbench::verbs
