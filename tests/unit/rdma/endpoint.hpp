#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "transports/rdma/fast_path.hpp"
#include "transports/rdma/memory.hpp"
#include "transports/rdma/objects.hpp"
#include "transports/rdma/qp_state.hpp"

namespace netbench::rdma {

inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// One end with 4 KiB of registered memory and one queue pair.
struct Endpoint {
  Context context;
  ProtectionDomain pd;
  CompletionQueue cq;
  HostMemory memory;
  MemoryRegion region;
  QueuePair qp;

  static Endpoint make(const VerbsTable& verbs, QpKind kind, const std::string& device = "fake0") {
    Context context = take(Context::open(verbs, device));
    ProtectionDomain pd = take(ProtectionDomain::allocate(context));
    CompletionQueue cq = take(CompletionQueue::create(context, 64));
    HostMemory memory = take(HostMemory::allocate({.bytes = 4096}));
    MemoryRegion region = take(memory.register_with(pd, kAllAccess));
    QueuePair qp = take(QueuePair::create(pd, {.kind = kind,
                                               .send_cq = cq.get(),
                                               .receive_cq = cq.get(),
                                               .send_depth = 16,
                                               .receive_depth = 16}));
    return {std::move(context), std::move(pd),     std::move(cq),
            std::move(memory),  std::move(region), std::move(qp)};
  }

  void ready(const Route& route, std::uint32_t peer_number, std::uint32_t path_mtu_bytes = 1024) {
    const QpKind kind = qp.kind();
    take(apply(qp, to_init({.kind = kind, .remote_access = kAllAccess}), "to the peer"));
    take(connect(qp,
                 {.receive = {.kind = kind,
                              .route = route,
                              .path_mtu_bytes = path_mtu_bytes,
                              .peer_number = peer_number},
                  .send = {.kind = kind}},
                 "to the peer"));
  }

  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<std::uintptr_t>(memory.address()) + offset,
            static_cast<std::uint32_t>(bytes), region.lkey()};
  }
  int post(ibv_send_wr request, ibv_sge piece) {
    request.sg_list = &piece;
    request.num_sge = 1;
    request.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    return post_send(qp.get(), &request, &bad);
  }
  int post_receive(std::uint64_t id, ibv_sge piece) {
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return post_recv(qp.get(), &request, &bad);
  }
  [[nodiscard]] std::vector<ibv_wc> completions() {
    std::vector<ibv_wc> found(64);
    const int count = poll_cq(cq.get(), 64, found.data());
    found.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
    return found;
  }
};

/// A request to the other end's memory.
[[nodiscard]] inline ibv_send_wr request_of(ibv_wr_opcode opcode, const Endpoint& target,
                                            std::size_t offset = 0) {
  ibv_send_wr request{};
  request.opcode = opcode;
  request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(target.memory.address()) + offset;
  request.wr.rdma.rkey = target.region.rkey();
  return request;
}

}  // namespace netbench::rdma
