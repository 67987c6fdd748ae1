#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "transports/rdma/testing/fake_objects.hpp"

namespace netbench::rdma::testing {
namespace {

ibv_wc_opcode completed_as(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

bool consumes_receive(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
         opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

void complete_send(const FakeQp& qp, const FakeSend& send, ibv_wc_status status,
                   std::uint32_t vendor_error = 0) {
  const bool signalled =
      qp.initial.sq_sig_all != 0 || (send.request.send_flags & IBV_SEND_SIGNALED) != 0;
  if (!signalled && status == IBV_WC_SUCCESS) {
    return;
  }
  ibv_wc completion{};
  completion.wr_id = send.request.wr_id;
  completion.status = status;
  completion.opcode = completed_as(send.request.opcode);
  completion.vendor_err = vendor_error;
  completion.byte_len = send.memory.length;
  completion.qp_num = qp.shown.qp_num;
  complete(qp.initial.send_cq, completion);
}

FakeQp* target_of(const FakeState& state, const FakeQp& qp, const FakeSend& send) {
  const bool datagram = qp.initial.qp_type == IBV_QPT_UD;
  const std::uint32_t number = datagram ? send.request.wr.ud.remote_qpn : qp.now.dest_qp_num;
  const auto at = state.queue_pairs.find(number);
  const bool usable = at != state.queue_pairs.end() && (at->second->now.qp_state == IBV_QPS_RTR ||
                                                        at->second->now.qp_state == IBV_QPS_RTS);
  return usable ? at->second : nullptr;
}

void fail_queue_pair(FakeQp& qp) {
  qp.now.qp_state = IBV_QPS_ERR;
  qp.shown.state = IBV_QPS_ERR;
  flush(qp);
}

void finish(FakeQp& qp, const FakeSend& send, ibv_wc_status status,
            std::uint32_t vendor_error = 0) {
  complete_send(qp, send, status, vendor_error);
  if (status != IBV_WC_SUCCESS) {
    fail_queue_pair(qp);
  }
}

/// What waits goes on while the peer has receives; unreliable kinds drop what finds none.
void progress(FakeState& state, FakeQp& qp) {
  while (!qp.waiting.empty()) {
    FakeSend& send = qp.waiting.front();
    FakeQp* target = target_of(state, qp, send);
    const bool reliable = qp.initial.qp_type == IBV_QPT_RC;
    const bool starved =
        target != nullptr && consumes_receive(send.request.opcode) && target->receives.empty();
    if (starved && reliable) {
      return;
    }
    const FakeSend taken = std::move(send);
    qp.waiting.pop_front();
    if (target == nullptr || starved) {
      finish(qp, taken, reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS);
    } else {
      const ibv_wc_status status = execute(state, qp, *target, taken);
      finish(qp, taken, reliable ? status : IBV_WC_SUCCESS);
    }
  }
}

/// The fault at the front of `faults` where its turn has come.
bool take_fault(std::deque<FakeFault>& faults, FakeFault& fault) {
  if (faults.empty()) {
    return false;
  }
  if (faults.front().skip > 0) {
    --faults.front().skip;
    return false;
  }
  fault = faults.front();
  faults.pop_front();
  return true;
}

bool is_read(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
         opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

FakeSend copy_of(const ibv_send_wr& request) {
  FakeSend send{request, {}, {}};
  if (request.num_sge > 0) {
    send.memory = request.sg_list[0];
  }
  if (!is_read(request.opcode)) {
    const auto* data = reinterpret_cast<const std::byte*>(send.memory.addr);
    send.payload.assign(data, data + send.memory.length);
  }
  return send;
}

void take_request(FakeState& state, FakeQp& qp, const ibv_send_wr& request) {
  ++state.counts.requests;
  state.counts.signalled += (request.send_flags & IBV_SEND_SIGNALED) != 0 ? 1 : 0;
  state.counts.inline_requests += (request.send_flags & IBV_SEND_INLINE) != 0 ? 1 : 0;
  FakeSend send = copy_of(request);
  FakeFault fault;
  if (take_fault(state.corruptions, fault) && fault.offset < send.payload.size()) {
    send.payload[fault.offset] ^= std::byte{1};
  }
  if (qp.now.qp_state == IBV_QPS_ERR) {
    complete_send(qp, send, IBV_WC_WR_FLUSH_ERR);
  } else if (take_fault(state.failures, fault)) {
    finish(qp, send, fault.status, fault.vendor_error);
  } else {
    qp.waiting.push_back(std::move(send));
    progress(state, qp);
  }
}

int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
  FakeState& state = owner_of(qp->context);
  const std::scoped_lock lock(state.mutex);
  FakeQp& fake = fake_of<FakeQp>(qp);
  ++state.counts.doorbells;
  for (; request != nullptr; request = request->next) {
    if (fake.now.qp_state != IBV_QPS_RTS && fake.now.qp_state != IBV_QPS_ERR) {
      *bad = request;
      return EINVAL;
    }
    take_request(state, fake, *request);
  }
  return 0;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
  FakeState& state = owner_of(qp->context);
  const std::scoped_lock lock(state.mutex);
  FakeQp& fake = fake_of<FakeQp>(qp);
  ++state.counts.receive_doorbells;
  for (; request != nullptr; request = request->next) {
    if (fake.receives.size() >= fake.initial.cap.max_recv_wr) {
      *bad = request;
      return ENOMEM;
    }
    ++state.counts.receives;
    fake.receives.push_back(
        {request->wr_id, request->num_sge > 0 ? request->sg_list[0] : ibv_sge{}});
  }
  if (fake.now.qp_state == IBV_QPS_ERR) {
    flush(fake);
  }
  for (const auto& [number, sender] : state.queue_pairs) {
    progress(state, *sender);
  }
  return 0;
}

int poll_cq(ibv_cq* cq, int capacity, ibv_wc* completions) {
  FakeState& state = owner_of(cq->context);
  const std::scoped_lock lock(state.mutex);
  FakeCq& queue = fake_of<FakeCq>(cq);
  const int count = std::min(capacity, static_cast<int>(queue.ready.size()));
  std::copy_n(queue.ready.begin(), count, completions);
  queue.ready.erase(queue.ready.begin(), queue.ready.begin() + count);
  ++state.counts.polls;
  state.counts.empty_polls += count == 0 ? 1 : 0;
  state.counts.completions += static_cast<std::uint64_t>(count);
  return count;
}

int request_notification(ibv_cq* cq, int /*solicited*/) {
  FakeState& state = owner_of(cq->context);
  const std::scoped_lock lock(state.mutex);
  ++state.counts.notifications;
  fake_of<FakeCq>(cq).armed = true;
  return 0;
}

}  // namespace

void set_data_path(ibv_context_ops& ops) {
  ops.post_send = &post_send;
  ops.post_recv = &post_recv;
  ops.poll_cq = &poll_cq;
  ops.req_notify_cq = &request_notification;
}

void ring(const sdk::Fd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

void flush(FakeQp& qp) {
  for (const FakeSend& send : std::exchange(qp.waiting, {})) {
    complete_send(qp, send, IBV_WC_WR_FLUSH_ERR);
  }
  for (const FakeReceive& receive : std::exchange(qp.receives, {})) {
    ibv_wc completion{};
    completion.wr_id = receive.id;
    completion.status = IBV_WC_WR_FLUSH_ERR;
    completion.qp_num = qp.shown.qp_num;
    complete(qp.initial.recv_cq, completion);
  }
}

}  // namespace netbench::rdma::testing
