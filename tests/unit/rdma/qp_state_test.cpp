#include "transports/rdma/qp_state.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/rdma/endpoint.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"

namespace netbench::rdma {
namespace {

using testing::FakeVerbs;

constexpr Gid kPeer = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 2};

TEST(Route, HasAGlobalHeaderOnEthernetWhateverTheLid) {
  const ibv_ah_attr address = address_of({.link_layer = LinkLayer::ethernet,
                                          .sgid_index = 3,
                                          .destination = kPeer,
                                          .destination_lid = 7,
                                          .traffic_class = 106,
                                          .flow_label = 9});
  EXPECT_EQ(address.is_global, 1);
  EXPECT_EQ(address.dlid, 0);
  EXPECT_EQ(address.grh.sgid_index, 3);
  EXPECT_EQ(address.grh.traffic_class, 106);
  EXPECT_EQ(address.grh.flow_label, 9U);
  EXPECT_EQ(address.grh.dgid.raw[15], 2);
}

TEST(Route, HasALidAndNoGlobalHeaderInOneInfinibandSubnet) {
  const ibv_ah_attr address =
      address_of({.link_layer = LinkLayer::infiniband, .destination_lid = 7, .service_level = 2});
  EXPECT_EQ(address.is_global, 0);
  EXPECT_EQ(address.dlid, 7);
  EXPECT_EQ(address.sl, 2);
}

TEST(Route, HasBothAcrossInfinibandSubnets) {
  const ibv_ah_attr address =
      address_of({.link_layer = LinkLayer::infiniband, .destination_lid = 7, .global = true});
  EXPECT_EQ(address.is_global, 1);
  EXPECT_EQ(address.dlid, 7);
}

class EveryKind : public ::testing::TestWithParam<QpKind> {};

TEST_P(EveryKind, GoesFromResetToReadyByStepsThatTheStateMachineHas) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  Endpoint endpoint = Endpoint::make(verbs, GetParam());
  endpoint.ready({.destination = kPeer}, 99);  // the fake checks required attributes
  ASSERT_EQ(fake.states().size(), 3U);
  EXPECT_EQ(fake.states()[0].attributes.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(fake.states()[1].attributes.qp_state, IBV_QPS_RTR);
  EXPECT_EQ(fake.states()[2].attributes.qp_state, IBV_QPS_RTS);
}

INSTANTIATE_TEST_SUITE_P(QpKind, EveryKind, ::testing::Values(QpKind::rc, QpKind::uc, QpKind::ud));

TEST(StateStep, OfAnUnreliableKindSetsNothingThatOnlyReliableOnesHave) {
  constexpr int kReliable = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  EXPECT_EQ(to_ready_to_receive({.kind = QpKind::uc}).mask & kReliable, 0);
  EXPECT_EQ(to_ready_to_receive({.kind = QpKind::ud}).mask, IBV_QP_STATE);
  EXPECT_EQ(to_ready_to_send({.kind = QpKind::uc}).mask, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

TEST(StateStep, OfDatagramsCarriesTheKeyInsteadOfAccess) {
  const StateStep step = to_init({.kind = QpKind::ud});
  EXPECT_NE(step.mask & IBV_QP_QKEY, 0);
  EXPECT_EQ(step.mask & IBV_QP_ACCESS_FLAGS, 0);
  EXPECT_EQ(step.attributes.qkey, kDatagramKey);
}

struct StepFailure {
  int sys_errno;
  const char* meaning;
};

class ReadyToReceiveRefused : public ::testing::TestWithParam<StepFailure> {};

TEST_P(ReadyToReceiveRefused, NamesTheStepTheCauseAndThePeer) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Endpoint endpoint = Endpoint::make(verbs, QpKind::rc);
  take(apply(endpoint.qp, to_init({}), "to 10.77.0.2"));
  fake.refuse_state(IBV_QPS_RTR, GetParam().sys_errno);
  const auto done = connect(endpoint.qp, {}, "to 10.77.0.2 by GID 1 of rxe0");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().slug(), "rdma-qp-ready-to-receive");
  EXPECT_EQ(done.error().sys_errno(), GetParam().sys_errno);
  EXPECT_NE(done.error().message().find(GetParam().meaning), std::string::npos)
      << done.error().message();
  EXPECT_NE(done.error().message().find("10.77.0.2 by GID 1 of rxe0"), std::string::npos);
  EXPECT_FALSE(done.error().remedy().empty());
}

INSTANTIATE_TEST_SUITE_P(Errno, ReadyToReceiveRefused,
                         ::testing::Values(StepFailure{ETIMEDOUT, "neighbour"},
                                           StepFailure{ENETUNREACH, "no route"},
                                           StepFailure{EHOSTUNREACH, "cannot be reached"},
                                           StepFailure{ENODEV, "no interface"},
                                           StepFailure{EINVAL, "path MTU"}));

TEST(StateStep, RefusedForAnotherReasonStillNamesTheStep) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Endpoint endpoint = Endpoint::make(verbs, QpKind::rc);
  fake.refuse_state(IBV_QPS_INIT, EIO);
  const auto done = apply(endpoint.qp, to_init({}), "to 10.77.0.2");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().slug(), "rdma-qp-init");
  EXPECT_NE(done.error().message().find("Input/output error"), std::string::npos);
}

TEST(ReadDepth, IsTheSmallerOfWhatOneMaySendAndTheOtherAnswers) {
  EXPECT_EQ(read_depth(16, 4, std::nullopt), 4);
  EXPECT_EQ(read_depth(2, 16, std::nullopt), 2);
  EXPECT_EQ(read_depth(16, 16, 1), 1);
  EXPECT_EQ(read_depth(16, 8, 100), 8);
  EXPECT_EQ(read_depth(0, 8, std::nullopt), 0);
}

PortDescription port_with_mtu(std::uint32_t bytes) {
  PortDescription port;
  port.device = "mlx5_" + std::to_string(bytes);
  port.active_mtu_bytes = bytes;
  return port;
}

TEST(PathMtu, IsTheSmallerOfBothAndSaysWhoseItIs) {
  const PathMtu mtu = choose_path_mtu(port_with_mtu(4096), port_with_mtu(1024), std::nullopt);
  EXPECT_EQ(mtu.bytes, 1024U);
  EXPECT_NE(mtu.note.find("mlx5_1024 carries 1024 B"), std::string::npos);
  EXPECT_TRUE(choose_path_mtu(port_with_mtu(2048), port_with_mtu(2048), std::nullopt).note.empty());
}

TEST(PathMtu, AskedForIsTakenAndWarnedOfWhereAPortCarriesLess) {
  const PathMtu mtu = choose_path_mtu(port_with_mtu(4096), port_with_mtu(1024), 4096);
  EXPECT_EQ(mtu.bytes, 4096U);
  EXPECT_NE(mtu.note.find("more than mlx5_1024 carries 1024 B"), std::string::npos);
  EXPECT_TRUE(choose_path_mtu(port_with_mtu(4096), port_with_mtu(4096), 256).note.empty());
}

TEST(PathMtu, MapsToTheEnumAndBack) {
  for (const std::uint32_t bytes : {256U, 512U, 1024U, 2048U, 4096U}) {
    EXPECT_EQ(bytes_of(mtu_of(bytes)), bytes);
  }
  EXPECT_EQ(mtu_of(1500), IBV_MTU_1024);
  EXPECT_EQ(mtu_of(9000), IBV_MTU_4096);
  EXPECT_EQ(mtu_of(1), IBV_MTU_256);
}

}  // namespace
}  // namespace netbench::rdma
