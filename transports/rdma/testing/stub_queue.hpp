#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

/// A queue pair and its completion queue that cost as little as can be: every request is done when
/// it is posted, and every signalled one completes. For measuring what a loop itself costs.
namespace netbench::rdma::testing {

/// One thread's. At most kSlots completions may wait.
class StubQueue {
 public:
  static constexpr std::size_t kSlots = 1024;

  StubQueue() {
    context_.ops.post_send = &post_send;
    context_.ops.post_recv = &post_recv;
    context_.ops.poll_cq = &poll_cq;
    cq_.context = &context_;
    qp_.context = &context_;
    qp_.qp_context = this;
    cq_.cq_context = this;
  }
  StubQueue(const StubQueue&) = delete;
  StubQueue& operator=(const StubQueue&) = delete;

  [[nodiscard]] ibv_qp* qp() { return &qp_; }
  [[nodiscard]] ibv_cq* cq() { return &cq_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] std::uint64_t doorbells() const { return doorbells_; }
  [[nodiscard]] std::uint64_t polls() const { return polls_; }

 private:
  static int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** /*bad*/) {
    auto& self = *static_cast<StubQueue*>(qp->qp_context);
    ++self.doorbells_;
    for (; request != nullptr; request = request->next) {
      ++self.requests_;
      if ((request->send_flags & IBV_SEND_SIGNALED) != 0) {
        self.ids_[self.tail_++ % kSlots] = request->wr_id;
      }
    }
    return 0;
  }
  static int post_recv(ibv_qp* /*qp*/, ibv_recv_wr* /*request*/, ibv_recv_wr** /*bad*/) {
    return 0;
  }
  static int poll_cq(ibv_cq* cq, int capacity, ibv_wc* completions) {
    auto& self = *static_cast<StubQueue*>(cq->cq_context);
    ++self.polls_;
    int count = 0;
    for (; count < capacity && self.head_ != self.tail_; ++count) {
      completions[count].wr_id = self.ids_[self.head_++ % kSlots];
      completions[count].status = IBV_WC_SUCCESS;
      completions[count].opcode = IBV_WC_RDMA_WRITE;
    }
    return count;
  }

  ibv_context context_{};
  ibv_qp qp_{};
  ibv_cq cq_{};
  std::array<std::uint64_t, kSlots> ids_{};
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t doorbells_ = 0;
  std::uint64_t polls_ = 0;
};

}  // namespace netbench::rdma::testing
