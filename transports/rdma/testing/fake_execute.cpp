#include <cstring>

#include "transports/rdma/testing/fake_objects.hpp"

namespace netbench::rdma::testing {
namespace {

constexpr std::size_t kGrhBytes = 40;

/// The memory behind a key, or null where the key, the range or the access does not fit.
std::byte* memory_at(const FakeState& state, std::uint32_t key, std::uint64_t address,
                     std::size_t bytes, unsigned int access) {
  const auto at = state.memory.find(key);
  if (at == state.memory.end() || (at->second->access & access) != access) {
    return nullptr;
  }
  const FakeMr& mr = *at->second;
  const bool inside = address >= mr.address && bytes <= mr.shown.length &&
                      address - mr.address <= mr.shown.length - bytes;
  return inside ? static_cast<std::byte*>(mr.shown.addr) + (address - mr.address) : nullptr;
}

/// Fills the receive at the front of `target`.
ibv_wc_status deliver(const FakeQp& sender, FakeQp& target, const FakeSend& send) {
  const FakeReceive receive = target.receives.front();
  target.receives.pop_front();
  const bool writes = send.request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const std::size_t grh = target.initial.qp_type == IBV_QPT_UD ? kGrhBytes : 0;
  ibv_wc completion{};
  completion.wr_id = receive.id;
  completion.opcode = writes ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  completion.qp_num = target.shown.qp_num;
  completion.src_qp = sender.shown.qp_num;
  completion.byte_len = static_cast<std::uint32_t>(send.payload.size() + grh);
  completion.wc_flags = grh != 0 ? unsigned{IBV_WC_GRH} : 0;
  completion.wc_flags |= send.request.opcode != IBV_WR_SEND ? unsigned{IBV_WC_WITH_IMM} : 0;
  completion.imm_data = send.request.imm_data;
  if (!writes && completion.byte_len > receive.memory.length) {
    completion.status = IBV_WC_LOC_LEN_ERR;
  } else if (!writes && !send.payload.empty()) {
    std::memcpy(reinterpret_cast<std::byte*>(receive.memory.addr) + grh, send.payload.data(),
                send.payload.size());
  }
  complete(target.initial.recv_cq, completion);
  return completion.status == IBV_WC_SUCCESS ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
}

ibv_wc_status write(const FakeState& state, const FakeSend& send) {
  const auto& at = send.request.wr.rdma;
  std::byte* target =
      memory_at(state, at.rkey, at.remote_addr, send.payload.size(), IBV_ACCESS_REMOTE_WRITE);
  if (target == nullptr) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::memcpy(target, send.payload.data(), send.payload.size());
  return IBV_WC_SUCCESS;
}

ibv_wc_status read(const FakeState& state, const FakeSend& send) {
  const auto& at = send.request.wr.rdma;
  const std::byte* source =
      memory_at(state, at.rkey, at.remote_addr, send.memory.length, IBV_ACCESS_REMOTE_READ);
  if (source == nullptr) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::memcpy(reinterpret_cast<std::byte*>(send.memory.addr), source, send.memory.length);
  return IBV_WC_SUCCESS;
}

ibv_wc_status atomic(const FakeState& state, const FakeSend& send) {
  const auto& at = send.request.wr.atomic;
  std::byte* target =
      memory_at(state, at.rkey, at.remote_addr, sizeof(std::uint64_t), IBV_ACCESS_REMOTE_ATOMIC);
  if (target == nullptr) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::uint64_t before = 0;
  std::memcpy(&before, target, sizeof before);
  const bool adds = send.request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const std::uint64_t swapped = before == at.compare_add ? at.swap : before;
  const std::uint64_t after = adds ? before + at.compare_add : swapped;
  std::memcpy(target, &after, sizeof after);
  std::memcpy(reinterpret_cast<std::byte*>(send.memory.addr), &before, sizeof before);
  return IBV_WC_SUCCESS;
}

}  // namespace

void complete(ibv_cq* cq, const ibv_wc& completion) {
  FakeCq& queue = fake_of<FakeCq>(cq);
  queue.ready.push_back(completion);
  if (queue.armed && cq->channel != nullptr) {
    queue.armed = false;
    FakeChannel& channel = fake_of<FakeChannel>(cq->channel);
    channel.waiting.push_back(cq);
    ring(channel.event);
  }
}

ibv_wc_status execute(const FakeState& state, const FakeQp& qp, FakeQp& target,
                      const FakeSend& send) {
  switch (send.request.opcode) {
    case IBV_WR_RDMA_WRITE:
      return write(state, send);
    case IBV_WR_RDMA_READ:
      return read(state, send);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return atomic(state, send);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      if (const ibv_wc_status status = write(state, send); status != IBV_WC_SUCCESS) {
        return status;
      }
      return deliver(qp, target, send);
    default:
      return deliver(qp, target, send);
  }
}

}  // namespace netbench::rdma::testing
