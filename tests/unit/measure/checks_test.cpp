#include "bench/measure/checks.hpp"

#include <gtest/gtest.h>

namespace netbench::measure {
namespace {

HostInfo host_on(const std::string& interface, const std::string& address) {
  HostInfo host;
  host.interface = interface;
  host.addresses = {address};
  return host;
}

/// Two hosts and a round in which the responder received `payload` bytes in packets of 1448.
struct Scene {
  HostInfo a = host_on("eth0", "192.0.2.1");
  HostInfo b = host_on("eth0", "192.0.2.2");
  Round round;

  explicit Scene(double payload) {
    const double packets = payload / 1448;
    round.responder.counters = {{"payload.received_bytes", payload},
                                {"if.eth0.rx_packets", packets},
                                {"if.eth0.rx_bytes", payload + packets * 66}};
    round.initiator.elapsed_s = 1;
    round.responder.elapsed_s = 1;
  }
  void check(const std::string& transport = "tcp") { check_round(round, {a, b, false, transport}); }
};

TEST(CheckRound, AgreesWhereTheInterfaceCountedThePayload) {
  Scene scene(1e9);
  scene.check();
  ASSERT_TRUE(scene.round.wire_disagreement.has_value());
  EXPECT_LT(*scene.round.wire_disagreement, 1e-6);
  EXPECT_TRUE(scene.round.flags.empty());
}

TEST(CheckRound, FlagsPayloadThatTheInterfaceDidNotCount) {
  Scene scene(1e9);
  scene.round.responder.counters["payload.received_bytes"] = 1.05e9;
  scene.check();
  EXPECT_TRUE(scene.round.flags.contains("wire_disagreement"));
}

TEST(CheckRound, TakesTheRdmaPortsBytesForVerbs) {
  Scene scene(1e9);
  scene.round.responder.counters["rdma.mlx5_0.port_rcv_data"] = 2.6e8;  // words of 4 bytes
  scene.round.responder.counters["rdma.mlx5_0.port_rcv_packets"] = 1e6;
  scene.round.responder.counters["if.eth0.rx_bytes"] = 5e6;  // a card's traffic passes it by
  scene.check("verbs");
  ASSERT_TRUE(scene.round.wire_disagreement.has_value());
  EXPECT_EQ(*scene.round.wire_disagreement, 0);
  EXPECT_TRUE(scene.round.flags.empty());
}

TEST(CheckRound, SaysNothingOfVerbsWithoutAPortThatCounts) {
  Scene scene(1e9);
  scene.check("verbs");
  EXPECT_FALSE(scene.round.wire_disagreement.has_value());
}

TEST(CheckRound, FlagsForeignTrafficOnTheInterface) {
  Scene scene(1e9);
  scene.round.responder.counters["if.eth0.rx_bytes"] *= 1.2;
  scene.check();
  EXPECT_TRUE(scene.round.flags.contains("foreign_load"));
}

TEST(CheckRound, FlagsForeignLoadOnTheCpus) {
  Scene scene(1e9);
  scene.round.initiator.foreign_cpu_s = 0.5;
  scene.check();
  EXPECT_TRUE(scene.round.flags.contains("foreign_load"));
}

TEST(CheckRound, FlagsStolenTime) {
  Scene scene(1e9);
  scene.round.responder.steal_s = 0.1;
  scene.check();
  EXPECT_EQ(scene.round.flags, (std::set<std::string>{"steal"}));
}

TEST(CheckRound, SaysNothingOfTheWireWithoutCounters) {
  Scene scene(1e9);
  scene.round.responder.counters.erase("if.eth0.rx_packets");
  scene.check();
  EXPECT_FALSE(scene.round.wire_disagreement.has_value());
}

TEST(CheckRound, CountsDatagramsThatTheSocketDroppedAsArrived) {
  Scene scene(0);
  const double size = 1000;
  scene.round.responder.counters = {{"payload.received_bytes", 6e6},
                                    {"udp.received", 6e6 / size},
                                    {"udp.socket_drops", 4e6 / size},
                                    {"if.eth0.rx_packets", 1e7 / size},
                                    {"if.eth0.rx_bytes", 1e7 / size * (size + 42)}};
  scene.check("udp");
  ASSERT_TRUE(scene.round.wire_disagreement.has_value());
  EXPECT_LT(*scene.round.wire_disagreement, 1e-6);
}

}  // namespace
}  // namespace netbench::measure
