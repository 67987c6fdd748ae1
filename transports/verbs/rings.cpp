#include "transports/verbs/rings.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace netbench::verbs {
namespace {

constexpr std::array kOpcodes = {
    IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_SEND,
    IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
};

ibv_sge piece_of(const void* address, std::size_t bytes, std::uint32_t lkey) {
  return {reinterpret_cast<std::uintptr_t>(address), static_cast<std::uint32_t>(bytes), lkey};
}

/// Where the operation of this slot goes, or comes from.
void aim(ibv_send_wr& request, const LanePlan& plan, Op op, std::uint32_t slot) {
  switch (op) {
    case Op::write:
    case Op::write_imm:
      request.wr.rdma = {plan.remote_address + plan.remote_layout.in_message(slot),
                         plan.remote_key};
      return;
    case Op::read:
      request.wr.rdma = {plan.remote_address + plan.remote_layout.out_message(slot),
                         plan.remote_key};
      return;
    case Op::fetch_add:
    case Op::compare_swap:
      request.wr.atomic = {plan.remote_address + Layout::kCellOffset, 1, 0, plan.remote_key};
      return;
    case Op::send:
      if (plan.address != nullptr) {
        request.wr.ud = {plan.address, plan.remote_qp, plan.remote_qkey};
      }
      return;
  }
}

bool fits_inline(const LanePlan& plan, Op op) {
  const bool carries = op == Op::write || op == Op::write_imm || op == Op::send;
  return carries && plan.layout.message_bytes <= plan.inline_bytes;
}

std::byte* first_slot(const LanePlan& plan, Op op) {
  return plan.memory + (op == Op::read ? plan.layout.in_message(0) : plan.layout.out_message(0));
}

}  // namespace

SendRing::SendRing(const LanePlan& plan, Op op)
    : qp_(plan.qp),
      first_(first_slot(plan, op)),
      stride_(plan.layout.stride),
      bytes_(plan.layout.message_bytes),
      depth_(plan.depths.depth),
      interval_(plan.depths.interval),
      chain_(plan.depths.chain),
      free_(plan.depths.depth),
      seed_(plan.seed),
      requests_(plan.depths.depth),
      pieces_(plan.depths.depth),
      sampler_(plan.compare_every) {
  make_requests(plan, op);
  if (op == Op::write) {
    make_records(plan);
  }
}

void SendRing::make_requests(const LanePlan& plan, Op op) {
  const std::uint32_t slots = op == Op::read ? plan.layout.in_slots : plan.layout.out_slots;
  const unsigned inlined = fits_inline(plan, op) ? unsigned{IBV_SEND_INLINE} : 0U;
  if (slots < depth_) {
    stride_ = 0;  // a ping-pong has one message at a time, in one place
  }
  for (std::uint32_t i = 0; i < depth_; ++i) {
    ibv_send_wr& request = requests_[i];
    pieces_[i] = piece_of(slot(i), bytes_, plan.lkey);
    request.wr_id = plan.lane;
    request.next = (i + 1) % chain_ == 0 ? nullptr : &requests_[i + 1];
    request.sg_list = &pieces_[i];
    request.num_sge = 1;
    request.opcode = kOpcodes[static_cast<std::size_t>(op)];
    request.send_flags = ((i + 1) % interval_ == 0 ? unsigned{IBV_SEND_SIGNALED} : 0U) | inlined;
    aim(request, plan, op, stride_ == 0 ? 0 : i);
  }
}

void SendRing::make_records(const LanePlan& plan) {
  record_words_ = reinterpret_cast<std::uint64_t*>(plan.memory + Layout::kRecordOffset);
  record_requests_.resize(Layout::kRecords);
  record_pieces_.resize(Layout::kRecords);
  const bool small = plan.inline_bytes >= sizeof(std::uint64_t);
  const unsigned inlined = small ? unsigned{IBV_SEND_INLINE} : 0U;
  for (std::size_t i = 0; i < Layout::kRecords; ++i) {
    ibv_send_wr& request = record_requests_[i];
    record_pieces_[i] = piece_of(record_words_ + i, sizeof(std::uint64_t), plan.lkey);
    request.wr_id = kRecordId | plan.lane;
    request.sg_list = &record_pieces_[i];
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED | inlined;
    request.wr.rdma = {plan.remote_address + Layout::kToldOffset, plan.remote_key};
  }
}

int SendRing::post_record() noexcept {
  if (recorded_ == posted_ || records_under_way_ == Layout::kRecords) {
    return 0;
  }
  const std::size_t index = records_ % Layout::kRecords;
  record_words_[index] = htole64(posted_);
  recorded_ = posted_;
  ++records_;
  ++records_under_way_;
  ++doorbells_;
  ibv_send_wr* refused = nullptr;
  return rdma::post_send(qp_, &record_requests_[index], &refused);
}

bool SendRing::check_body(std::byte* message, std::uint64_t number) noexcept {
  compared_ = number;
  const auto body = body_of(message, bytes_);
  if (auto wrong = rdma::compare_pattern(body, seed_)) {
    fault_ = {true, 0, 0, wrong};
    return false;
  }
  std::memset(body.data(), 0, body.size());
  return true;
}

bool SendRing::check_last_read() noexcept {
  return completed_ == compared_ || check_body(slot(0), completed_);
}

ReceiveRing::ReceiveRing(const LanePlan& plan, Op op)
    : qp_(plan.qp),
      first_(plan.memory + plan.layout.in_message(0)),
      stride_(plan.layout.stride),
      bytes_(plan.layout.message_bytes),
      receives_(plan.depths.receives),
      chunk_(plan.depths.receive_chunk),
      targets_(std::max<std::uint32_t>(plan.layout.in_slots, 1)),
      seed_(plan.seed),
      requests_(plan.depths.receives),
      pieces_(plan.depths.receives),
      sampler_(plan.compare_every) {
  const std::size_t header = plan.layout.header_bytes;
  for (std::uint32_t i = 0; i < receives_; ++i) {
    ibv_recv_wr& request = requests_[i];
    request.wr_id = plan.lane;
    request.next = (i + 1) % chunk_ == 0 ? nullptr : &requests_[i + 1];
    if (op == Op::send) {  // an immediate takes a receive, but no memory of it
      pieces_[i] = piece_of(slot(i) - header, bytes_ + header, plan.lkey);
      request.sg_list = &pieces_[i];
      request.num_sge = 1;
    }
  }
}

int ReceiveRing::post_all() noexcept {
  for (std::uint32_t i = 0; i < receives_; i += chunk_) {
    ibv_recv_wr* refused = nullptr;
    if (const int error = rdma::post_recv(qp_, &requests_[i], &refused); error != 0) {
      return error;
    }
  }
  return 0;
}

bool ReceiveRing::post_chunk() noexcept {
  ibv_recv_wr* refused = nullptr;
  ++doorbells_;
  refused_ = rdma::post_recv(qp_, &requests_[post_at_], &refused);
  post_at_ = post_at_ + chunk_ == receives_ ? 0 : post_at_ + chunk_;
  used_ = 0;
  return refused_ == 0;
}

bool ReceiveRing::check_body(std::byte* message, bool clear) noexcept {
  const auto body = body_of(message, bytes_);
  if (auto wrong = rdma::compare_pattern(body, seed_)) {
    fault_ = {true, 0, 0, wrong};
    return false;
  }
  if (clear) {
    std::memset(body.data(), 0, body.size());
  }
  return true;
}

}  // namespace netbench::verbs
