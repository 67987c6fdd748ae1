#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/rdma/completion.hpp"
#include "transports/rdma/fast_path.hpp"
#include "transports/sdk/clock.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/verbs/rings.hpp"
#include "transports/verbs/waiter.hpp"

/// The loop of one thread over its queue pairs and their one completion queue.
namespace netbench::verbs {

/// What an end does with its queue pairs. A target of writes, reads or atomics does nothing.
enum class Duty { post, take, both };

/// Both rings of one queue pair; absent where this end has no use for it.
struct LaneRings {
  std::unique_ptr<SendRing> send;
  std::unique_ptr<ReceiveRing> receive;
};

/// What a thread did: written by it alone once a turn of its loop, read by any.
struct alignas(sdk::kPrivateLineBytes) StreamCounts {
  std::atomic<std::uint64_t> intervals{0};  // posted, each of Depths::interval requests
  std::atomic<std::uint64_t> records{0};    // posted, of progress
  std::atomic<std::uint64_t> completed{0};  // operations that this end posted
  std::atomic<std::uint64_t> received{0};   // messages that completed a receive
  std::atomic<std::uint64_t> polls{0};
  std::atomic<std::uint64_t> completions{0};
  std::atomic<std::uint64_t> events{0};
  std::atomic<bool> drained{false};  // nothing is under way, and nothing will be posted
};

/// What ended a loop before it was asked to end.
struct LoopFailure {
  rdma::FirstFailure completions;
  int refused_errno = 0;     // a doorbell or the queue itself
  const char* refused = "";  // "posting sends"
  const DataFault* fault = nullptr;
  [[nodiscard]] bool any() const {
    return completions.any() || refused_errno != 0 || fault != nullptr;
  }
};

/// From outside: post no more; leave whatever is under way.
struct StreamOrders {
  const std::atomic<bool>& stop;
  const std::atomic<bool>& quit;
};

inline constexpr int kPollBatch = 16;

template <Op kOp, Duty kDuty, bool kReliable, Wait kWait>
class StreamLoop {
 public:
  StreamLoop(std::span<LaneRings> lanes, Waiter<kWait> waiter, ibv_cq* queue,
             StreamCounts& counts) noexcept
      : lanes_(lanes), waiter_(waiter), queue_(queue), counts_(&counts) {}

  /// Until it is told to leave; a loop that only posts leaves once drained. False on a failure.
  [[nodiscard]] bool run(const StreamOrders& orders) noexcept {
    while (!orders.quit.load(std::memory_order_relaxed)) {
      if constexpr (kPosts) {
        const bool stop = orders.stop.load(std::memory_order_relaxed);
        if (stop ? !finish() : !post()) [[unlikely]] {
          return false;
        }
        if (stop && drained()) {
          counts_->drained.store(true, std::memory_order_release);
          if constexpr (!kTakes) {
            return true;
          }
        }
      }
      const int taken = rdma::poll_cq(queue_, kPollBatch, completions_.data());
      ++polls_;
      if (taken <= 0) {
        if (taken < 0) [[unlikely]] {
          return refuse(-taken, "polling completions");
        }
        if (waiter_.idle()) {
          publish();
        }
        continue;
      }
      waiter_.busy();
      if (!take(static_cast<std::size_t>(taken))) [[unlikely]] {
        publish();
        return false;
      }
      publish();
    }
    return true;
  }

  [[nodiscard]] const LoopFailure& failure() const noexcept { return failure_; }

 private:
  static constexpr bool kPosts = kDuty != Duty::take;
  static constexpr bool kTakes = kDuty != Duty::post;
  static constexpr std::int64_t kRecordNs = 1'000'000;

  [[nodiscard]] bool post() noexcept {
    for (LaneRings& lane : lanes_) {
      while (lane.send->has_room()) {
        if (const int error = lane.send->template post_interval<kOp>(); error != 0) [[unlikely]] {
          return refuse(error, "posting sends");
        }
        ++intervals_;
      }
    }
    return true;
  }

  /// After the last message: plain writes tell the peer how many there were.
  [[nodiscard]] bool finish() noexcept {
    if constexpr (kOp == Op::write) {
      return post_records();
    }
    return true;
  }

  [[nodiscard]] bool post_records() noexcept {
    for (LaneRings& lane : lanes_) {
      const std::uint64_t before = lane.send->records();
      if (const int error = lane.send->post_record(); error != 0) [[unlikely]] {
        return refuse(error, "posting a record of progress");
      }
      records_ += lane.send->records() - before;
    }
    return true;
  }

  [[nodiscard]] bool drained() const noexcept {
    for (const LaneRings& lane : lanes_) {
      if (!lane.send->drained() || (kOp == Op::write && !lane.send->told())) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool take(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (!take_one(completions_[i])) [[unlikely]] {
        return false;
      }
    }
    taken_ += count;
    if constexpr (kOp == Op::write) {
      const std::int64_t now = sdk::MonotonicClock::now_ns();
      if (now - recorded_at_ns_ >= kRecordNs) {
        recorded_at_ns_ = now;
        return post_records();
      }
    }
    return true;
  }

  [[nodiscard]] bool take_one(const ibv_wc& completion) noexcept {
    if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
      failure_.completions.add(completion);
      drain_failures();
      return false;
    }
    LaneRings& lane = lanes_[completion.wr_id & kLaneMask];
    if constexpr (kTakes) {
      if (kDuty == Duty::take || (completion.opcode & IBV_WC_RECV) != 0) {
        ++received_;
        return lane.receive->template take<kOp, kReliable>(completion) || blame(*lane.receive);
      }
    }
    if constexpr (kPosts) {
      if constexpr (kOp == Op::write) {
        if ((completion.wr_id & kRecordId) != 0) {
          lane.send->complete_record();
          return true;
        }
      }
      const std::uint64_t before = lane.send->completed();
      const bool right = lane.send->template complete_interval<kOp>();
      completed_ += lane.send->completed() - before;
      failure_.fault = right ? nullptr : &lane.send->fault();
      return right;
    }
    return true;
  }

  [[nodiscard]] bool blame(const ReceiveRing& ring) noexcept {
    if (ring.fault().any) {
      failure_.fault = &ring.fault();
      return false;
    }
    return refuse(ring.refused(), "posting receives");
  }

  [[nodiscard]] bool refuse(int error, const char* what) noexcept {
    failure_.refused_errno = error;
    failure_.refused = what;
    return false;
  }

  /// What else has failed by now; a flush may come before its cause on another queue pair.
  void drain_failures() noexcept {
    int taken = 0;
    while ((taken = rdma::poll_cq(queue_, kPollBatch, completions_.data())) > 0) {
      for (int i = 0; i < taken; ++i) {
        const ibv_wc& completion = completions_[static_cast<std::size_t>(i)];
        if (completion.status != IBV_WC_SUCCESS) {
          failure_.completions.add(completion);
        }
      }
    }
  }

  void publish() noexcept {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    counts_->intervals.store(intervals_, kRelaxed);
    counts_->records.store(records_, kRelaxed);
    counts_->completed.store(completed_, kRelaxed);
    counts_->received.store(received_, kRelaxed);
    counts_->polls.store(polls_, kRelaxed);
    counts_->completions.store(taken_, kRelaxed);
    counts_->events.store(waiter_.events(), kRelaxed);
  }

  std::span<LaneRings> lanes_;
  Waiter<kWait> waiter_;
  ibv_cq* queue_;
  StreamCounts* counts_;
  std::uint64_t intervals_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t taken_ = 0;
  std::int64_t recorded_at_ns_ = 0;
  LoopFailure failure_;
  std::array<ibv_wc, kPollBatch> completions_{};
};

}  // namespace netbench::verbs
