#include <algorithm>
#include <cerrno>

#include "transports/rdma/testing/fake_objects.hpp"

namespace netbench::rdma::testing {
namespace {

using Lock = std::scoped_lock<std::mutex>;

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  FakeState& state = owner_of(pd->context);
  const Lock lock(state.mutex);
  if (refused(state, "create_qp")) {
    return nullptr;
  }
  const FakeDevice& device = *fake_of<FakeContext>(pd->context).device;
  if (attributes->cap.max_inline_data > device.max_inline_bytes ||
      attributes->cap.max_send_wr > static_cast<std::uint32_t>(device.attributes.max_qp_wr) ||
      attributes->cap.max_recv_wr > static_cast<std::uint32_t>(device.attributes.max_qp_wr)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* qp = made<FakeQp>(state);
  qp->initial = *attributes;
  qp->shown.context = pd->context;
  qp->shown.pd = pd;
  qp->shown.qp_type = attributes->qp_type;
  qp->shown.qp_num = state.next_number++;
  state.queue_pairs[qp->shown.qp_num] = qp;
  return &qp->shown;
}

/// Steps that the state machine has (IBTA 1.4, figure 123); any state may be reset or failed.
bool may_go(ibv_qp_state from, ibv_qp_state to) {
  return to == IBV_QPS_RESET || to == IBV_QPS_ERR ||
         (from == IBV_QPS_RESET && to == IBV_QPS_INIT) ||
         (from == IBV_QPS_INIT && (to == IBV_QPS_INIT || to == IBV_QPS_RTR)) ||
         ((from == IBV_QPS_RTR || from == IBV_QPS_RTS) && to == IBV_QPS_RTS);
}

/// What each step must set (ibv_modify_qp(3)).
int needed_mask(ibv_qp_type type, ibv_qp_state to) {
  const bool datagram = type == IBV_QPT_UD;
  const bool reliable = type == IBV_QPT_RC;
  switch (to) {
    case IBV_QPS_INIT:
      return IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    case IBV_QPS_RTR:
      return (datagram ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
             (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
    case IBV_QPS_RTS:
      return IBV_QP_SQ_PSN | (reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                             IBV_QP_MAX_QP_RD_ATOMIC
                                       : 0);
    default:
      return 0;
  }
}

void take_attributes(FakeQp& qp, const ibv_qp_attr& attributes, int mask) {
  qp.now.qp_state = attributes.qp_state;
  qp.shown.state = attributes.qp_state;
  if ((mask & IBV_QP_DEST_QPN) != 0) {
    qp.now.dest_qp_num = attributes.dest_qp_num;
  }
  if (attributes.qp_state == IBV_QPS_ERR) {
    flush(qp);
  }
}

int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  FakeState& state = owner_of(qp->context);
  const Lock lock(state.mutex);
  if (const int error = enter(state, "modify_qp")) {
    return error;
  }
  if (const auto at = state.state_refusals.find(attributes->qp_state);
      at != state.state_refusals.end()) {
    return at->second;
  }
  FakeQp& fake = fake_of<FakeQp>(qp);
  const int needed = needed_mask(fake.initial.qp_type, attributes->qp_state);
  if (!may_go(fake.now.qp_state, attributes->qp_state) || (mask & needed) != needed) {
    return EINVAL;
  }
  state.states.push_back({qp->qp_num, *attributes, mask});
  take_attributes(fake, *attributes, mask);
  return 0;
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int /*mask*/, ibv_qp_init_attr* initial) {
  FakeState& state = owner_of(qp->context);
  const Lock lock(state.mutex);
  *attributes = fake_of<FakeQp>(qp).now;
  *initial = fake_of<FakeQp>(qp).initial;
  return enter(state, "query_qp");
}

int destroy_qp(ibv_qp* qp) {
  FakeState& state = owner_of(qp->context);
  const Lock lock(state.mutex);
  state.queue_pairs.erase(qp->qp_num);
  return given_back<FakeQp>(state, "destroy_qp", qp);
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  FakeState& state = owner_of(pd->context);
  const Lock lock(state.mutex);
  if (refused(state, "create_ah")) {
    return nullptr;
  }
  auto* ah = made<FakeAh>(state);
  ah->shown.context = pd->context;
  ah->shown.pd = pd;
  ah->attributes = *attributes;
  return &ah->shown;
}

int destroy_ah(ibv_ah* ah) {
  FakeState& state = owner_of(ah->context);
  const Lock lock(state.mutex);
  return given_back<FakeAh>(state, "destroy_ah", ah);
}

int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode /*operation*/, std::uint32_t /*flags*/) {
  FakeState& state = owner_of(qp->context);
  const Lock lock(state.mutex);
  return fake_of<FakeContext>(qp->context).device->in_order ? 1 : 0;
}

}  // namespace

void set_queue_pair_calls(VerbsTable& table) {
  table.create_qp = &create_qp;
  table.modify_qp = &modify_qp;
  table.query_qp = &query_qp;
  table.destroy_qp = &destroy_qp;
  table.create_ah = &create_ah;
  table.destroy_ah = &destroy_ah;
  table.query_qp_data_in_order = &query_qp_data_in_order;
}

}  // namespace netbench::rdma::testing
