#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transports/rdma/device.hpp"
#include "transports/rdma/end_address.hpp"
#include "transports/rdma/fast_path.hpp"
#include "transports/rdma/memory.hpp"
#include "transports/rdma/objects.hpp"
#include "transports/rdma/qp_state.hpp"
#include "transports/rdma/verbs_table.hpp"

/// One host of the lab, and what its tests share.
namespace netbench::rdma::lab {

using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::seconds kPatience{20};
inline constexpr std::size_t kMemoryBytes = 1 << 20;
inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

[[nodiscard]] inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    throw std::runtime_error(std::string(name) + " is not set: run it by scripts/rdma-lab");
  }
  return value;
}
[[nodiscard]] inline bool is_first() { return variable("LAB_HOST") == "a"; }

/// Gives `mine` to this test on the other host, and takes its own, through the shared folder.
inline std::vector<std::uint8_t> exchange(const std::string& what,
                                          const std::vector<std::uint8_t>& mine) {
  namespace fs = std::filesystem;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const fs::path folder = fs::path(variable("LAB_DIR")) / "rdma_lab_test";
  fs::create_directories(folder);
  std::string stem = std::string(test->test_suite_name()) + "." + test->name() + "." + what;
  std::ranges::replace(stem, '/', '.');
  const fs::path own = folder / (stem + (is_first() ? ".a" : ".b"));
  const fs::path other = folder / (stem + (is_first() ? ".b" : ".a"));
  std::ofstream(own.string() + ".new", std::ios::binary)
      .write(reinterpret_cast<const char*>(mine.data()), static_cast<std::streamsize>(mine.size()));
  fs::rename(own.string() + ".new", own);
  for (const auto until = Clock::now() + kPatience; !fs::exists(other);) {
    if (Clock::now() > until) {
      throw std::runtime_error("the other host did not reach " + stem);
    }
    sched_yield();
  }
  std::ifstream file(other, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void meet(const std::string& what) { exchange(what, {}); }

/// This host's end: the device's port, 1 MiB of registered memory, and one queue pair in init.
struct End {
  Rail rail;
  Context context;
  ProtectionDomain pd;
  CompletionQueue cq;
  HostMemory memory;
  MemoryRegion region;
  QueuePair qp;
  EndAddress mine{};
  EndAddress peer{};
  GidPair gids{};

  static End make(const VerbsTable& verbs, QpKind kind) {
    const std::vector<Rail> rails = take(list_rails(verbs));
    RailWish wish;
    wish.rail = variable("LAB_DEV");
    Rail rail = *take(choose_rail(rails, wish));
    Context context = take(Context::open(verbs, rail.port.device));
    ProtectionDomain pd = take(ProtectionDomain::allocate(context));
    CompletionQueue cq = take(CompletionQueue::create(context, 256));
    HostMemory memory = take(HostMemory::allocate({.bytes = kMemoryBytes}));
    MemoryRegion region = take(memory.register_with(pd, kAllAccess));
    QueuePair qp = take(QueuePair::create(pd, spec(kind, cq)));
    return {std::move(rail),   std::move(context), std::move(pd), std::move(cq),
            std::move(memory), std::move(region),  std::move(qp)};
  }
  static QueuePair::Spec spec(QpKind kind, const CompletionQueue& cq) {
    return {.kind = kind,
            .send_cq = cq.get(),
            .receive_cq = cq.get(),
            .send_depth = 64,
            .receive_depth = 64};
  }

  [[nodiscard]] std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(memory.address()); }
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t length) const {
    return {reinterpret_cast<std::uintptr_t>(bytes() + offset), static_cast<std::uint32_t>(length),
            region.lkey()};
  }
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode opcode, std::size_t offset = 0) const {
    ibv_send_wr made{};
    made.opcode = opcode;
    made.wr.rdma.remote_addr = peer.buffers.at(0).address + offset;
    made.wr.rdma.rkey = peer.buffers.at(0).rkey;
    return made;
  }

  /// Tells the other host, and chooses the GIDs.
  void introduce() {
    mine.offer.port = rail.port;
    mine.max_reads_out = rail.limits.max_reads_out;
    mine.max_reads_in = rail.limits.max_reads_in;
    mine.queue_pairs = {{qp.number(), 0x1000}};
    mine.buffers = {{reinterpret_cast<std::uintptr_t>(bytes()), memory.bytes(), region.rkey()}};
    peer = take(decode_end_address(exchange("address", encode(mine))));
    gids = take(choose_gid_pair(mine.offer, peer.offer));
  }
  [[nodiscard]] Route route() const {
    return {.link_layer = rail.port.link_layer,
            .port = rail.port.port,
            .sgid_index = static_cast<std::uint8_t>(gids.first.index),
            .destination = gids.second.address};
  }
  void connect_to_peer(std::optional<std::int64_t> path_mtu_bytes = std::nullopt) {
    introduce();
    const QpKind kind = qp.kind();
    const std::string about = "to " + text_of(gids.second.address);
    take(apply(qp, to_init({.kind = kind, .remote_access = kAllAccess}), about));
    const PathMtu mtu = choose_path_mtu(mine.offer.port, peer.offer.port, path_mtu_bytes);
    take(connect(qp,
                 {.receive = {.kind = kind,
                              .route = route(),
                              .path_mtu_bytes = mtu.bytes,
                              .peer_number = peer.queue_pairs.at(0).number,
                              .peer_psn = peer.queue_pairs.at(0).psn,
                              .reads_in = read_depth(peer.max_reads_out, mine.max_reads_in, 4)},
                  .send = {.kind = kind,
                           .psn = mine.queue_pairs.at(0).psn,
                           .reads_out = read_depth(mine.max_reads_out, peer.max_reads_in, 4),
                           .ack_timeout = 16}},
                 about));
    meet("connected");
  }
};

[[nodiscard]] inline int post(const QueuePair& qp, ibv_send_wr request, ibv_sge piece) {
  request.sg_list = &piece;
  request.num_sge = 1;
  request.send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  return post_send(qp.get(), &request, &bad);
}
[[nodiscard]] inline int post_receive(const QueuePair& qp, ibv_sge piece) {
  ibv_recv_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return post_recv(qp.get(), &request, &bad);
}
/// The next completion; none after `patience`: a status that no completion has.
[[nodiscard]] inline ibv_wc next_completion(const CompletionQueue& cq,
                                            std::chrono::seconds patience = kPatience) {
  ibv_wc completion{};
  for (const auto until = Clock::now() + patience; Clock::now() < until; sched_yield()) {
    if (poll_cq(cq.get(), 1, &completion) == 1) {
      return completion;
    }
  }
  completion.status = IBV_WC_TM_ERR;
  return completion;
}
[[nodiscard]] inline VerbsTable verbs() { return take(load_verbs_table()); }

}  // namespace netbench::rdma::lab
