#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>

#include "tests/lab/rdma/lab_end.hpp"
#include "transports/rdma/cm.hpp"
#include "transports/rdma/completion.hpp"
#include "transports/rdma/message.hpp"

namespace netbench::rdma::lab {
namespace {

constexpr std::size_t kBytes = 900;
constexpr std::size_t kHeader = 40;  // of datagrams
const std::atomic<bool> never{false};

CmPatience patience(std::chrono::seconds length = kPatience) {
  return {Clock::now() + length, never};
}

sdk::Address address_of_host(const char* name, std::uint16_t port = 0) {
  sdk::Address address = *sdk::parse_numeric(variable(name), AF_INET);
  reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
  return address;
}

/// What a test needs of the device that an id is bound to.
struct CmEnd {
  Context context;
  ProtectionDomain pd;
  CompletionQueue cq;
  HostMemory memory;
  MemoryRegion region;

  static CmEnd make(const VerbsTable& verbs, const CmId& id) {
    Context context = Context::borrow(verbs, id.context());
    ProtectionDomain pd = take(ProtectionDomain::allocate(context));
    CompletionQueue cq = take(CompletionQueue::create(context, 64));
    HostMemory memory = take(HostMemory::allocate({.bytes = 8192}));
    MemoryRegion region = take(memory.register_with(pd, IBV_ACCESS_LOCAL_WRITE));
    return {std::move(context), std::move(pd), std::move(cq), std::move(memory), std::move(region)};
  }
  [[nodiscard]] ibv_sge piece(std::size_t bytes) const {
    return {reinterpret_cast<std::uintptr_t>(memory.address()), static_cast<std::uint32_t>(bytes),
            region.lkey()};
  }
};

class Cm : public ::testing::TestWithParam<QpKind> {
 protected:
  VerbsTable verbs_ = verbs();
  CmTable cm_ = take(load_cm_table());
  CmChannel channel_ = take(CmChannel::create(cm_));

  void respond() {
    const QpKind kind = GetParam();
    const CmListener listener = take(listen_anywhere(channel_, kind, 4));
    exchange("port", {static_cast<std::uint8_t>(listener.port & 0xff),
                      static_cast<std::uint8_t>(listener.port >> 8)});
    const CmEvent request = take(next_request(channel_, patience()));
    ASSERT_GE(request.private_data.size(), 2U);
    EXPECT_EQ(request.private_data[0], 7);
    CmId id = CmId::adopt(cm_, request.id, kind);
    const CmEnd end = CmEnd::make(verbs_, id);
    const QueuePair qp = take(id.create_qp(end.pd, End::spec(kind, end.cq)));
    const std::size_t grh = kind == QpKind::ud ? kHeader : 0;
    ASSERT_EQ(post_receive(qp, end.piece(kBytes + grh)), 0);
    take(accept(channel_, id, qp, {}, patience()));
    const ibv_wc received = next_completion(end.cq);
    EXPECT_EQ(received.status, IBV_WC_SUCCESS) << meaning_of(received.status).name;
    EXPECT_EQ(received.byte_len, kBytes + grh);
    EXPECT_FALSE(compare_pattern(end.memory.span().subspan(grh, kBytes), 3));
    meet("end");
  }

  void initiate() {
    const QpKind kind = GetParam();
    const std::vector<std::uint8_t> told = exchange("port", {});
    ASSERT_EQ(told.size(), 2U);
    const auto port = static_cast<std::uint16_t>(told[0] | (told[1] << 8));
    CmId id = take(CmId::create(channel_, kind));
    take(set_options(id, {.traffic_class = 8, .ack_timeout = 17}));
    take(resolve(channel_, id, address_of_host("LAB_IP"), address_of_host("LAB_PEER_IP", port),
                 patience()));
    EXPECT_EQ(Context::borrow(verbs_, id.context()).device(), variable("LAB_DEV"));
    CmEnd end = CmEnd::make(verbs_, id);
    const QueuePair qp = take(id.create_qp(end.pd, End::spec(kind, end.cq)));
    const std::array<std::uint8_t, 2> data = {7, 8};
    const CmEvent event = take(connect(channel_, id, qp, {.private_data = data}, patience()));
    fill_pattern(end.memory.span().first(kBytes), 3);
    send(end, qp, event);
    meet("end");
    id.disconnect();
  }

  static void send(const CmEnd& end, const QueuePair& qp, const CmEvent& event) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    std::optional<AddressHandle> ah;
    if (qp.kind() == QpKind::ud) {
      ah = take(AddressHandle::create(end.pd, event.peer_address));
      request.wr.ud = {ah->get(), event.peer_number, event.peer_qkey};
    }
    ASSERT_EQ(post(qp, request, end.piece(kBytes)), 0);
    const ibv_wc done = next_completion(end.cq);
    EXPECT_EQ(done.status, IBV_WC_SUCCESS) << meaning_of(done.status).name;
  }
};

TEST_P(Cm, ConnectsOverAPortOfTheSystemsChoiceAndMovesBytes) {
  if (GetParam() == QpKind::ud && variable("LAB_RDMA") == "siw") {
    GTEST_SKIP() << "iWARP has no datagrams";
  }
  is_first() ? initiate() : respond();
}

TEST_P(Cm, NamesAPortWhereNobodyListens) {
  if (!is_first() || (GetParam() == QpKind::ud && variable("LAB_RDMA") == "siw")) {
    GTEST_SKIP() << "from one host alone";
  }
  CmId id = take(CmId::create(channel_, GetParam()));
  take(resolve(channel_, id, {}, address_of_host("LAB_PEER_IP", 9), patience()));
  const CmEnd end = CmEnd::make(verbs_, id);
  const QueuePair qp = take(id.create_qp(end.pd, End::spec(GetParam(), end.cq)));
  const auto event = connect(channel_, id, qp, {}, patience());
  ASSERT_FALSE(event);
  printf("  %s\n", event.error().message().c_str());
  EXPECT_EQ(event.error().slug(), "rdma-cm-rejected");
}

TEST_P(Cm, NamesAnAddressWithoutANeighbour) {
  CmId id = take(CmId::create(channel_, GetParam()));
  sdk::Address nobody = *sdk::parse_numeric("10.77.0.99", AF_INET);
  const auto done = resolve(channel_, id, {}, nobody, patience(std::chrono::seconds(6)));
  ASSERT_FALSE(done);
  printf("  %s\n", done.error().message().c_str());
  EXPECT_EQ(done.error().slug(), "rdma-cm-address");
  EXPECT_NE(done.error().message().find("10.77.0.99"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kind, Cm, ::testing::Values(QpKind::rc, QpKind::ud),
                         [](const auto& param) { return std::string(name_of(param.param)); });

}  // namespace
}  // namespace netbench::rdma::lab
