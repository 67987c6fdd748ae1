#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tests/lab/rdma/lab_end.hpp"
#include "transports/rdma/completion.hpp"
#include "transports/rdma/message.hpp"
#include "transports/rdma/preflight.hpp"

namespace netbench::rdma::lab {
namespace {

std::span<std::byte> part(const End& end, std::size_t offset, std::size_t bytes) {
  return end.memory.span().subspan(offset, bytes);
}

void finish(const End& end, ibv_send_wr request, ibv_sge piece) {
  ASSERT_EQ(post(end.qp, request, piece), 0);
  const ibv_wc done = next_completion(end.cq);
  ASSERT_EQ(done.status, IBV_WC_SUCCESS) << meaning_of(done.status).name;
}

TEST(RdmaLab, DescribesThePortAndPassesPreflight) {
  const VerbsTable table = verbs();
  const End end = End::make(table, QpKind::rc);
  const bool iwarp = variable("LAB_RDMA") == "siw";
  EXPECT_EQ(end.rail.port.link_layer, iwarp ? LinkLayer::iwarp : LinkLayer::ethernet);
  EXPECT_EQ(end.rail.port.state, PortState::active);
  EXPECT_EQ(end.rail.port.active_mtu_bytes, 1024U);  // of an interface with 1500
  ASSERT_EQ(end.rail.port.gids.size(), 3U);          // link-local, IPv4, IPv6
  EXPECT_EQ(end.rail.port.gids[0].interface, "eth0");
  const std::vector<Check> checks = preflight({kMemoryBytes, &end.rail.port});
  EXPECT_TRUE(require(checks)) << require(checks).error().message();
  for (const Check& check : checks) {
    printf("  %s: %s\n", check.id.c_str(), check.message.c_str());
  }
  printf("  %s\n", table_in_short(end.rail.port).c_str());
}

TEST(RdmaLab, ChoosesTheIpv4AddressesOfOneSubnetOnBothHosts) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  end.introduce();
  const bool iwarp = variable("LAB_RDMA") == "siw";
  EXPECT_EQ(end.gids.reason, iwarp ? "iWARP, IPv4, same subnet" : "RoCE v2, IPv4, same subnet");
  EXPECT_EQ(text_of(end.gids.first.address), variable("LAB_IP"));
  EXPECT_EQ(text_of(end.gids.second.address), variable("LAB_PEER_IP"));
}

class Connected : public ::testing::TestWithParam<QpKind> {};

TEST_P(Connected, SendsFromOneHostToTheOther) {
  const VerbsTable table = verbs();
  End end = End::make(table, GetParam());
  constexpr std::size_t kBytes = 10000;
  end.connect_to_peer();
  if (is_first()) {
    fill_pattern(part(end, 0, kBytes), 5);
    meet("posted");
    ibv_send_wr send{};
    send.opcode = IBV_WR_SEND_WITH_IMM;
    send.imm_data = 77;
    finish(end, send, end.piece(0, kBytes));
  } else {
    ASSERT_EQ(post_receive(end.qp, end.piece(0, kBytes)), 0);
    meet("posted");
    const ibv_wc received = next_completion(end.cq);
    ASSERT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.byte_len, kBytes);
    EXPECT_EQ(received.imm_data, 77U);
    EXPECT_FALSE(compare_pattern(part(end, 0, kBytes), 5));
  }
  meet("end");
}

TEST_P(Connected, WritesIntoTheOtherHostsMemory) {
  const VerbsTable table = verbs();
  End end = End::make(table, GetParam());
  constexpr std::size_t kBytes = 100000;
  end.connect_to_peer();
  if (is_first()) {
    fill_pattern(part(end, 0, kBytes), 6);
    stamp(part(end, 0, kBytes).data(), kBytes, 99);
    finish(end, end.request(IBV_WR_RDMA_WRITE, 4096), end.piece(0, kBytes));
  }
  meet("written");
  if (!is_first()) {
    const auto until = Clock::now() + kPatience;
    while (peek_sequence(part(end, 4096, kBytes).data(), kBytes) != 99 && Clock::now() < until) {
      sched_yield();
    }
    EXPECT_EQ(stamped(part(end, 4096, kBytes).data(), kBytes), 99U);
    EXPECT_FALSE(compare_pattern(part(end, 4096, kBytes - 8), 6));
  }
  meet("end");
}

INSTANTIATE_TEST_SUITE_P(Kind, Connected, ::testing::Values(QpKind::rc, QpKind::uc),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST(RdmaLab, WritesWithImmediateIntoAReceive) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  end.connect_to_peer();
  if (is_first()) {
    fill_pattern(part(end, 0, 512), 8);
    meet("posted");
    ibv_send_wr write = end.request(IBV_WR_RDMA_WRITE_WITH_IMM);
    write.imm_data = 4711;
    finish(end, write, end.piece(0, 512));
  } else {
    ASSERT_EQ(post_receive(end.qp, end.piece(8192, 0)), 0);
    meet("posted");
    const ibv_wc received = next_completion(end.cq);
    ASSERT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(received.imm_data, 4711U);
    EXPECT_FALSE(compare_pattern(part(end, 0, 512), 8));
  }
  meet("end");
}

TEST(RdmaLab, ReadsTheOtherHostsMemory) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  fill_pattern(part(end, 0, 65536), is_first() ? 1 : 2);
  end.connect_to_peer();
  finish(end, end.request(IBV_WR_RDMA_READ), end.piece(65536, 65536));
  EXPECT_FALSE(compare_pattern(part(end, 65536, 65536), is_first() ? 2 : 1));
  meet("end");
}

TEST(RdmaLab, AddsAndSwapsInTheOtherHostsMemory) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  stamp(part(end, 0, 8).data(), 8, 40);
  end.connect_to_peer();
  ibv_send_wr add = end.request(IBV_WR_ATOMIC_FETCH_AND_ADD);
  add.wr.atomic = {end.peer.buffers[0].address, 2, 0, end.peer.buffers[0].rkey};
  finish(end, add, end.piece(64, 8));
  EXPECT_EQ(stamped(part(end, 64, 8).data(), 8), 40U);
  ibv_send_wr swap = add;
  swap.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  swap.wr.atomic.compare_add = 42;
  swap.wr.atomic.swap = 7;
  finish(end, swap, end.piece(72, 8));
  EXPECT_EQ(stamped(part(end, 72, 8).data(), 8), 42U);
  meet("done");
  EXPECT_EQ(stamped(part(end, 0, 8).data(), 8), 7U);
}

TEST(RdmaLab, SendsDatagramsWithAHeaderOf40Bytes) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::ud);
  constexpr std::size_t kBytes = 1000;
  end.connect_to_peer();
  const AddressHandle ah = take(AddressHandle::create(end.pd, address_of(end.route())));
  if (is_first()) {
    fill_pattern(part(end, 0, kBytes), 9);
    meet("posted");
    ibv_send_wr send{};
    send.opcode = IBV_WR_SEND;
    send.wr.ud.ah = ah.get();
    send.wr.ud.remote_qpn = end.peer.queue_pairs[0].number;
    send.wr.ud.remote_qkey = kDatagramKey;
    finish(end, send, end.piece(0, kBytes));
  } else {
    ASSERT_EQ(post_receive(end.qp, end.piece(0, kBytes + 40)), 0);
    meet("posted");
    const ibv_wc received = next_completion(end.cq);
    ASSERT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.byte_len, kBytes + 40);
    EXPECT_FALSE(compare_pattern(part(end, 40, kBytes), 9));
  }
  meet("end");
}

TEST(RdmaLab, NamesARemoteAccessErrorAndCountsWhatItFlushed) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  end.connect_to_peer();
  if (is_first()) {
    ibv_send_wr wrong = end.request(IBV_WR_RDMA_WRITE);
    wrong.wr.rdma.rkey += 0x100;
    ASSERT_EQ(post(end.qp, wrong, end.piece(0, 8)), 0);
    ASSERT_EQ(post(end.qp, wrong, end.piece(0, 8)), 0);
    FirstFailure failure;
    failure.add(next_completion(end.cq));
    failure.add(next_completion(end.cq));
    const sdk::Error error = failure.error("write to " + variable("LAB_PEER_IP"));
    printf("  %s\n", error.message().c_str());
    EXPECT_EQ(error.slug(), "rdma-remote-access");
    EXPECT_EQ(failure.flushed(), 1U);
  }
  meet("end");
}

TEST(RdmaLab, WaitsForACompletionByItsEvent) {
  const VerbsTable table = verbs();
  const End end = End::make(table, QpKind::rc);
  CompletionChannel channel = take(CompletionChannel::create(end.context));
  CompletionQueue cq = take(CompletionQueue::create(end.context, 8, &channel));
  const QueuePair qp = take(QueuePair::create(end.pd, End::spec(QpKind::rc, cq)));
  ASSERT_EQ(request_event(cq.get()), 0);
  take(apply(qp, to_init({}), "nowhere"));
  ASSERT_EQ(post_receive(qp, end.piece(0, 8)), 0);
  EXPECT_FALSE(channel.take_event());
  take(apply(qp, to_error(), "nowhere"));
  const auto until = Clock::now() + kPatience;
  bool woken = false;
  while (!woken && Clock::now() < until) {
    woken = channel.take_event();
  }
  ASSERT_TRUE(woken);
  cq.count_event();
  EXPECT_EQ(next_completion(cq).status, IBV_WC_WR_FLUSH_ERR);
}

TEST(RdmaLab, NamesTheStepThatFailsWithoutANeighbour) {
  const VerbsTable table = verbs();
  const End end = End::make(table, QpKind::rc);
  const Gid nobody = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 99};
  take(apply(end.qp, to_init({}), "to 10.77.0.99"));
  const auto done = connect(
      end.qp, {.receive = {.route = {.sgid_index = 1, .destination = nobody}, .peer_number = 5}},
      "to 10.77.0.99");
  ASSERT_FALSE(done);
  printf("  %s\n", done.error().message().c_str());
  EXPECT_EQ(done.error().slug(), "rdma-qp-ready-to-receive");
  EXPECT_EQ(done.error().sys_errno(), ETIMEDOUT);
}

TEST(RdmaLab, NeverCompletesAboveTheInterfacesMtu) {
  const VerbsTable table = verbs();
  End end = End::make(table, QpKind::rc);
  end.connect_to_peer(4096);
  if (is_first()) {
    ASSERT_EQ(post(end.qp, end.request(IBV_WR_RDMA_WRITE), end.piece(0, 8192)), 0);
    EXPECT_EQ(next_completion(end.cq, std::chrono::seconds(3)).status, IBV_WC_TM_ERR);
  }
  meet("end");
}

TEST(RdmaLab, HasNoDmaBufsOverSoftwareRdma) {
  const VerbsTable table = verbs();
  const End end = End::make(table, QpKind::rc);
  std::string why;
  const bool supported = supports_dmabuf(end.pd, why);
  printf("  dma-buf: %s\n", supported ? "supported" : why.c_str());
  EXPECT_EQ(supported, why.empty());
}

}  // namespace
}  // namespace netbench::rdma::lab
