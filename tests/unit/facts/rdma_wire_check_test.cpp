#include "bench/facts/rdma_wire_check.hpp"

#include <gtest/gtest.h>

namespace netbench::facts {
namespace {

TEST(RdmaWireCheck, ReadsThePortsWordsOfTheBusiestRail) {
  const Counters counters{{"rdma.mlx5_0.port_rcv_data", 2.5e8},
                          {"rdma.mlx5_0.port_rcv_packets", 2.5e5},
                          {"rdma.mlx5_1.port_rcv_data", 10}};
  const auto counted = rdma_bytes(counters, "eth0", false);
  ASSERT_TRUE(counted.has_value());
  EXPECT_DOUBLE_EQ(counted->bytes, 1e9);
  EXPECT_DOUBLE_EQ(counted->packets, 2.5e5);
}

TEST(RdmaWireCheck, TakesTheInterfaceOfSoftRoce) {
  const Counters counters{
      {"rdma.rxe0.rcvd_pkts", 1e6}, {"if.eth0.rx_bytes", 1.082e9}, {"if.eth0.rx_packets", 1e6}};
  const auto counted = rdma_bytes(counters, "eth0", false);
  ASSERT_TRUE(counted.has_value());
  EXPECT_DOUBLE_EQ(counted->least_header_bytes, 58);
  const auto check = check_rdma_wire(1.024e9, *counted);
  ASSERT_TRUE(check.has_value());
  EXPECT_LT(check->disagreement, 1e-6);
}

TEST(RdmaWireCheck, IsNothingWithoutCounters) {
  EXPECT_FALSE(rdma_bytes({{"if.eth0.rx_bytes", 1e9}, {"if.eth0.rx_packets", 1e6}}, "eth0", false)
                   .has_value());
}

TEST(RdmaWireCheck, AllowsForTheHeadersThatADriverMayCount) {
  for (const double per_packet : {0.0, 30.0, 82.0}) {
    const auto check = check_rdma_wire(1e9, {1e9 + per_packet * 2.5e5, 2.5e5, 0, 108});
    ASSERT_TRUE(check.has_value());
    EXPECT_EQ(check->disagreement, 0) << per_packet;
  }
}

TEST(RdmaWireCheck, SeesOtherTraffic) {
  const auto check = check_rdma_wire(1e9, {1.2e9, 2.5e5, 0, 108});
  ASSERT_TRUE(check.has_value());
  EXPECT_NEAR(check->disagreement, 0.173, 1e-3);
  EXPECT_GT(check->foreign_share, 0.1);
}

TEST(RdmaWireCheck, DoesNotJudgeByTheCounterOfAnotherPort) {
  EXPECT_FALSE(check_rdma_wire(1e9, {1e6, 250, 0, 108}).has_value());
}

}  // namespace
}  // namespace netbench::facts
