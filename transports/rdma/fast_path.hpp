#pragma once

#include <infiniband/verbs.h>

/// The calls of the data path: straight to the provider's function in the object's context, as
/// libibverbs' own inline functions do. With a context of a test's own, the test's functions.
namespace netbench::rdma {

/// 0, or an errno value; then `*bad` is the first request that was not posted.
[[nodiscard]] inline int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) noexcept {
  return qp->context->ops.post_send(qp, requests, bad);
}

[[nodiscard]] inline int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) noexcept {
  return qp->context->ops.post_recv(qp, requests, bad);
}

/// Completions taken, 0..capacity; negative on failure of the queue itself.
[[nodiscard]] inline int poll_cq(ibv_cq* cq, int capacity, ibv_wc* completions) noexcept {
  return cq->context->ops.poll_cq(cq, capacity, completions);
}

/// Asks for one event at the next completion; poll once more afterwards, before waiting.
[[nodiscard]] inline int request_event(ibv_cq* cq) noexcept {
  return cq->context->ops.req_notify_cq(cq, 0);
}

}  // namespace netbench::rdma
