#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/rdma/endpoint.hpp"
#include "transports/rdma/completion.hpp"
#include "transports/rdma/message.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"
#include "transports/rdma/testing/stub_queue.hpp"

namespace netbench::rdma {
namespace {

using testing::FakeVerbs;

/// Two ends that are connected to each other.
struct Pair {
  explicit Pair(const VerbsTable& verbs, QpKind kind = QpKind::rc)
      : first(Endpoint::make(verbs, kind)), second(Endpoint::make(verbs, kind)) {
    first.ready({}, second.qp.number());
    second.ready({}, first.qp.number());
  }
  Endpoint first;
  Endpoint second;
};

TEST(Fabric, WritesBytesIntoTheOtherEndsMemory) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  fill_pattern(pair.first.memory.span().first(512), 3);
  ASSERT_EQ(
      pair.first.post(request_of(IBV_WR_RDMA_WRITE, pair.second, 1024), pair.first.piece(0, 512)),
      0);
  const std::vector<ibv_wc> done = pair.first.completions();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_FALSE(compare_pattern(pair.second.memory.span().subspan(1024, 512), 3));
  EXPECT_TRUE(pair.second.completions().empty());
}

TEST(Fabric, ReadsAndAddsAtTheOtherEnd) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  stamp(pair.second.memory.span().data(), 8, 41);
  ibv_send_wr add{};
  add.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  add.wr.atomic.remote_addr = reinterpret_cast<std::uintptr_t>(pair.second.memory.address());
  add.wr.atomic.rkey = pair.second.region.rkey();
  add.wr.atomic.compare_add = 1;
  ASSERT_EQ(pair.first.post(add, pair.first.piece(0, 8)), 0);
  ASSERT_EQ(pair.first.post(request_of(IBV_WR_RDMA_READ, pair.second), pair.first.piece(8, 8)), 0);
  EXPECT_EQ(stamped(pair.first.memory.span().data(), 8), 41U);
  EXPECT_EQ(stamped(pair.first.memory.span().data(), 16), 42U);
}

TEST(Fabric, SendsWaitForAReceive) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  ASSERT_EQ(pair.first.post(send, pair.first.piece(0, 64)), 0);
  EXPECT_TRUE(pair.first.completions().empty());
  ASSERT_EQ(pair.second.post_receive(5, pair.second.piece(0, 64)), 0);
  EXPECT_EQ(pair.first.completions().size(), 1U);
  const std::vector<ibv_wc> received = pair.second.completions();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].wr_id, 5U);
  EXPECT_EQ(received[0].byte_len, 64U);
}

TEST(Fabric, DropsDatagramsThatFindNoReceive) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs, QpKind::ud);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.wr.ud.remote_qpn = pair.second.qp.number();
  ASSERT_EQ(pair.first.post(send, pair.first.piece(0, 64)), 0);
  EXPECT_EQ(pair.first.completions().size(), 1U);
  ASSERT_EQ(pair.second.post_receive(5, pair.second.piece(0, 104)), 0);
  EXPECT_TRUE(pair.second.completions().empty());
}

TEST(Fabric, RefusesAWrongKeyAndFlushesWhatFollows) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  ibv_send_wr wrong = request_of(IBV_WR_RDMA_WRITE, pair.second);
  wrong.wr.rdma.rkey += 1000;
  ASSERT_EQ(pair.first.post(wrong, pair.first.piece(0, 8)), 0);
  ASSERT_EQ(pair.first.post(wrong, pair.first.piece(0, 8)), 0);
  FirstFailure failure;
  for (const ibv_wc& completion : pair.first.completions()) {
    failure.add(completion);
  }
  EXPECT_EQ(failure.first()->status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(failure.flushed(), 1U);
}

TEST(Fabric, FailsAndCorruptsWhereATestAsksForIt) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  fill_pattern(pair.first.memory.span().first(64), 3);
  const ibv_send_wr write = request_of(IBV_WR_RDMA_WRITE, pair.second);
  fake.corrupt_request(10);
  ASSERT_EQ(pair.first.post(write, pair.first.piece(0, 64)), 0);
  EXPECT_EQ(compare_pattern(pair.second.memory.span().first(64), 3)->offset, 10U);
  fake.fail_request(IBV_WC_RETRY_EXC_ERR, 129);
  ASSERT_EQ(pair.first.post(write, pair.first.piece(0, 64)), 0);
  const std::vector<ibv_wc> done = pair.first.completions();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(done[1].vendor_err, 129U);
}

TEST(Fabric, CountsDoorbellsRequestsAndPolls) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Pair pair(verbs);
  ibv_sge piece = pair.first.piece(0, 8);
  ibv_send_wr second = request_of(IBV_WR_RDMA_WRITE, pair.second);
  second.sg_list = &piece;
  second.num_sge = 1;
  second.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr first = second;
  first.send_flags = IBV_SEND_INLINE;
  first.next = &second;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(post_send(pair.first.qp.get(), &first, &bad), 0);
  EXPECT_EQ(pair.first.completions().size(), 1U);
  EXPECT_TRUE(pair.first.completions().empty());
  const testing::DataPathCounts counts = fake.counts();
  EXPECT_EQ(counts.doorbells, 1U);
  EXPECT_EQ(counts.requests, 2U);
  EXPECT_EQ(counts.signalled, 1U);
  EXPECT_EQ(counts.inline_requests, 1U);
  EXPECT_EQ(counts.polls, 2U);
  EXPECT_EQ(counts.empty_polls, 1U);
}

TEST(StubQueue, CompletesEverySignalledRequestInOrder) {
  testing::StubQueue stub;
  ibv_send_wr second{};
  second.wr_id = 2;
  second.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr first{};
  first.wr_id = 1;
  first.next = &second;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(post_send(stub.qp(), &first, &bad), 0);
  ibv_wc completions[4];
  ASSERT_EQ(poll_cq(stub.cq(), 4, completions), 1);
  EXPECT_EQ(completions[0].wr_id, 2U);
  EXPECT_EQ(stub.requests(), 2U);
  EXPECT_EQ(stub.doorbells(), 1U);
  EXPECT_EQ(poll_cq(stub.cq(), 4, completions), 0);
}

}  // namespace
}  // namespace netbench::rdma
