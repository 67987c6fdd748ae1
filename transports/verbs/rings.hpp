#pragma once

#include <endian.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transports/rdma/fast_path.hpp"
#include "transports/rdma/message.hpp"
#include "transports/verbs/depths.hpp"
#include "transports/verbs/tables.hpp"

/// The queues of one queue pair with all their work requests made beforehand. The calls of the loop
/// neither allocate nor throw, and hold no branch on an option: the operation is a template
/// parameter.
namespace netbench::verbs {

/// wr_id of a completion: the lane in the low half, and what it was.
inline constexpr std::uint64_t kRecordId = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kLaneMask = 0xffffffff;

/// Data that is not what it must be. The first one stays.
struct DataFault {
  bool any = false;
  std::uint64_t expected_sequence = 0;
  std::uint64_t found_sequence = 0;
  std::optional<rdma::Mismatch> body;
};

/// What both rings of a lane are made of.
struct LanePlan {
  std::uint32_t lane = 0;
  ibv_qp* qp = nullptr;
  std::byte* memory = nullptr;  // of this lane
  std::uint32_t lkey = 0;
  Layout layout;
  Depths depths;
  std::uint64_t seed = 0;
  std::uint32_t inline_bytes = 0;
  std::uint64_t compare_every = 1;  // messages to one that is compared whole
  // The peer's lane.
  Layout remote_layout;
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;
  ibv_ah* address = nullptr;  // UD
  std::uint32_t remote_qp = 0;
  std::uint32_t remote_qkey = 0;
};

/// Bytes of a message before its sequence.
[[nodiscard]] inline std::span<std::byte> body_of(std::byte* message, std::size_t bytes) {
  return {message, bytes - rdma::sequence_bytes(bytes)};
}

/// The send queue: posts an interval at a time, the last request of each is signalled.
class SendRing {
 public:
  SendRing(const LanePlan& plan, Op op);

  [[nodiscard]] bool has_room() const noexcept { return free_ >= interval_; }
  [[nodiscard]] bool has_room_for_one() const noexcept { return free_ > 0; }
  [[nodiscard]] bool drained() const noexcept { return free_ == depth_; }

  /// Posts one interval. 0, or the errno of the doorbell that was refused.
  template <Op kOp>
  [[nodiscard]] int post_interval() noexcept {
    for (std::uint32_t end = at_ + interval_; at_ < end;) {
      ibv_send_wr* head = &requests_[at_];
      for (const std::uint32_t last = at_ + chain_; at_ < last; ++at_) {
        prepare<kOp>(at_, ++posted_);
      }
      ++doorbells_;
      ibv_send_wr* refused = nullptr;
      if (const int error = rdma::post_send(qp_, head, &refused); error != 0) [[unlikely]] {
        return error;
      }
    }
    free_ -= interval_;
    at_ = at_ == depth_ ? 0 : at_;
    return 0;
  }

  /// As post_interval() for a single request, signalled at the end of each interval (ping-pong).
  template <Op kOp>
  [[nodiscard]] int post_one() noexcept {
    prepare<kOp>(at_, ++posted_);
    ++doorbells_;
    --free_;
    ibv_send_wr* request = &requests_[at_];
    at_ = at_ + 1 == depth_ ? 0 : at_ + 1;
    ibv_send_wr* refused = nullptr;
    return rdma::post_send(qp_, request, &refused);
  }

  /// An interval completed. False where what came back is wrong; see fault().
  template <Op kOp>
  [[nodiscard]] bool complete_interval() noexcept {
    free_ += interval_;
    if constexpr (kOp == Op::read || kOp == Op::fetch_add || kOp == Op::compare_swap) {
      for (std::uint32_t i = 0; i < interval_; ++i) {
        if (!check<kOp>()) [[unlikely]] {
          return false;
        }
      }
    } else {
      completed_ += interval_;
    }
    return true;
  }

  /// Writes how much was posted so far into the peer's memory, behind it. Does nothing where too
  /// many records are under way. 0 or an errno.
  [[nodiscard]] int post_record() noexcept;
  void complete_record() noexcept { --records_under_way_; }
  /// Whether the peer has been told of everything.
  [[nodiscard]] bool told() const noexcept {
    return records_under_way_ == 0 && recorded_ == posted_;
  }

  [[nodiscard]] std::uint64_t posted() const noexcept { return posted_; }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
  [[nodiscard]] std::uint64_t doorbells() const noexcept { return doorbells_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] const DataFault& fault() const noexcept { return fault_; }
  /// Compares the landing place of the last read whole (ping-pong, between batches).
  [[nodiscard]] bool check_last_read() noexcept;

 private:
  [[nodiscard]] std::byte* slot(std::uint32_t index) const noexcept {
    return first_ + stride_ * index;
  }

  template <Op kOp>
  void prepare(std::uint32_t index, std::uint64_t sequence) noexcept {
    if constexpr (kOp == Op::read) {
      rdma::stamp(slot(index), bytes_, ~std::uint64_t{index + 1});  // what must not stay
    } else if constexpr (kOp == Op::compare_swap) {
      requests_[index].wr.atomic.compare_add = sequence - 1;
      requests_[index].wr.atomic.swap = sequence;
    } else if constexpr (kOp != Op::fetch_add) {
      rdma::stamp(slot(index), bytes_, sequence);
    }
    if constexpr (kOp == Op::write_imm) {
      requests_[index].imm_data = htobe32(static_cast<std::uint32_t>(sequence));
    }
  }

  /// Of the next message to complete: reads bring the slot's number, atomics what was there before.
  template <Op kOp>
  [[nodiscard]] bool check() noexcept {
    const std::byte* message = slot(done_at_);
    const std::uint64_t expected =
        kOp == Op::read ? rdma::carried(std::uint64_t{done_at_} + 1, bytes_) : completed_;
    const std::uint64_t found = rdma::stamped(message, bytes_);
    if (found != expected) [[unlikely]] {
      fault_ = {true, expected, found, std::nullopt};
      return false;
    }
    if constexpr (kOp == Op::read) {
      if (sampler_.due() && !check_body(slot(done_at_), completed_ + 1)) [[unlikely]] {
        return false;
      }
    }
    done_at_ = done_at_ + 1 == depth_ ? 0 : done_at_ + 1;
    ++completed_;
    return true;
  }
  /// Compares the body that read `number` brought and clears it, so that the next one must bring it
  /// again.
  [[nodiscard]] bool check_body(std::byte* message, std::uint64_t number) noexcept;

  void make_requests(const LanePlan& plan, Op op);
  void make_records(const LanePlan& plan);

  ibv_qp* qp_;
  std::byte* first_;
  std::size_t stride_;
  std::size_t bytes_;
  std::uint32_t depth_;
  std::uint32_t interval_;
  std::uint32_t chain_;
  std::uint32_t free_;
  std::uint32_t at_ = 0;
  std::uint32_t done_at_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t doorbells_ = 0;
  std::uint64_t seed_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> pieces_;
  std::vector<ibv_send_wr> record_requests_;
  std::vector<ibv_sge> record_pieces_;
  std::uint64_t* record_words_ = nullptr;
  std::uint64_t recorded_ = 0;
  std::uint64_t records_ = 0;
  std::uint32_t records_under_way_ = 0;
  rdma::Sampler sampler_;
  std::uint64_t compared_ = 0;  // number of the last read that was compared whole
  DataFault fault_;
};

/// The receive queue: messages arrive in the order in which receives were posted.
class ReceiveRing {
 public:
  ReceiveRing(const LanePlan& plan, Op op);

  /// Posts all of them; 0 or an errno. [control-thread]
  [[nodiscard]] int post_all() noexcept;

  /// A receive completed. Checks the message, and posts a chunk again where one is used up. False
  /// where data is wrong, see fault(), or a doorbell was refused, see refused().
  template <Op kOp, bool kReliable>
  [[nodiscard]] bool take(const ibv_wc& completion) noexcept {
    ++received_;
    if constexpr (kOp == Op::send) {
      if (!check<kReliable>(slot(at_))) [[unlikely]] {
        return false;
      }
    } else if (!check_target<kReliable>(be32toh(completion.imm_data))) [[unlikely]] {
      return false;
    }
    at_ = at_ + 1 == receives_ ? 0 : at_ + 1;
    return ++used_ < chunk_ || post_chunk();
  }

  /// take() in two steps, for a ping-pong that answers before it posts again: the message is
  /// checked by its sequence alone.
  template <Op kOp>
  [[nodiscard]] bool accept_one() noexcept {
    last_ = kOp == Op::send ? slot(at_) : slot(0);
    at_ = at_ + 1 == receives_ ? 0 : at_ + 1;
    ++used_;
    return check_sequence<true>(last_, ++received_);
  }
  [[nodiscard]] bool post_again() noexcept { return used_ == 0 || post_chunk(); }

  /// Compares the last message of a ping-pong whole.
  [[nodiscard]] bool check_last() noexcept { return last_ == nullptr || check_body(last_, false); }

  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }
  [[nodiscard]] std::uint64_t doorbells() const noexcept { return doorbells_; }
  [[nodiscard]] const DataFault& fault() const noexcept { return fault_; }
  [[nodiscard]] int refused() const noexcept { return refused_; }

 private:
  [[nodiscard]] std::byte* slot(std::uint32_t index) const noexcept {
    return first_ + stride_ * index;
  }

  /// A write with immediate went to the slot of its number. The peer may have written that slot
  /// again since, a whole number of laps later: what lies there must not be older.
  template <bool kReliable>
  [[nodiscard]] bool check_target(std::uint32_t immediate) noexcept {
    const auto expected = static_cast<std::uint32_t>(received_);
    if constexpr (kReliable) {
      if (immediate != expected) [[unlikely]] {
        fault_ = {true, expected, immediate, std::nullopt};
        return false;
      }
    } else {
      reordered_ += immediate <= latest_ ? 1 : 0;
      latest_ = immediate;
    }
    std::byte* message = slot((immediate - 1) % targets_);
    const auto found = static_cast<std::uint32_t>(rdma::stamped(message, bytes_));
    if (bytes_ >= 8 && (found - immediate) % targets_ != 0) [[unlikely]] {
      fault_ = {true, immediate, found, std::nullopt};
      return false;
    }
    return !sampler_.due() || check_body(message, false);
  }

  template <bool kReliable>
  [[nodiscard]] bool check(std::byte* message) noexcept {
    return check_sequence<kReliable>(message, received_) &&
           (!sampler_.due() || check_body(message, true));
  }

  /// Reliable messages come each once and in order; others may be missing or late.
  template <bool kReliable>
  [[nodiscard]] bool check_sequence(const std::byte* message, std::uint64_t expected) noexcept {
    const std::uint64_t found = rdma::stamped(message, bytes_);
    if constexpr (kReliable) {
      const std::uint64_t wanted = rdma::carried(expected, bytes_);
      if (found != wanted) [[unlikely]] {
        fault_ = {true, wanted, found, std::nullopt};
        return false;
      }
    } else {
      reordered_ += bytes_ >= 8 && found <= latest_ ? 1 : 0;
      latest_ = found;
    }
    return true;
  }
  [[nodiscard]] bool check_body(std::byte* message, bool clear) noexcept;
  [[nodiscard]] bool post_chunk() noexcept;

  ibv_qp* qp_;
  std::byte* first_;
  std::size_t stride_;
  std::size_t bytes_;
  std::uint32_t receives_;
  std::uint32_t chunk_;
  std::uint32_t targets_;
  std::uint32_t at_ = 0;
  std::uint32_t post_at_ = 0;
  std::uint32_t used_ = 0;
  std::uint64_t seed_;
  std::uint64_t received_ = 0;
  std::uint64_t latest_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t doorbells_ = 0;
  std::byte* last_ = nullptr;
  int refused_ = 0;
  std::vector<ibv_recv_wr> requests_;
  std::vector<ibv_sge> pieces_;
  rdma::Sampler sampler_;
  DataFault fault_;
};

}  // namespace netbench::verbs
