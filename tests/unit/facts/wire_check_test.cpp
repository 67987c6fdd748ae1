#include "bench/facts/wire_check.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <thread>

#include "tests/unit/facts/namespaces.hpp"
#include "tests/unit/facts/sockets.hpp"

namespace netbench::facts {
namespace {

TEST(WireHeaders, AreCountedPerProtocolAndFamily) {
  EXPECT_EQ(header_bytes({.link_bytes = 14, .ipv6 = false, .protocol = WireProtocol::tcp}), 66);
  EXPECT_EQ(header_bytes({.link_bytes = 14, .ipv6 = true, .protocol = WireProtocol::tcp}), 86);
  EXPECT_EQ(
      header_bytes(
          {.link_bytes = 14, .ipv6 = false, .protocol = WireProtocol::tcp, .timestamps = false}),
      54);
  EXPECT_EQ(header_bytes({.link_bytes = 14, .ipv6 = false, .protocol = WireProtocol::udp}), 42);
  EXPECT_EQ(counted_link_header_bytes("", true), 0);
  EXPECT_EQ(counted_link_header_bytes("tun", false), 0);
  EXPECT_EQ(counted_link_header_bytes("veth", false), 14);
}

TEST(WireCheck, AgreesWhenTheInterfaceCarriedThePayloadAlone) {
  const auto check = check_wire(
      {.payload_bytes = 144800, .rx_bytes = 151400, .rx_packets = 100, .header_bytes = 66});
  ASSERT_TRUE(check.has_value());
  EXPECT_EQ(check->wire_payload_bytes, 144800);
  EXPECT_EQ(check->disagreement, 0);
  EXPECT_EQ(check->foreign_share, 0);
}

TEST(WireCheck, ShowsForeignTraffic) {
  const auto check = check_wire(
      {.payload_bytes = 72400, .rx_bytes = 151400, .rx_packets = 100, .header_bytes = 66});
  EXPECT_DOUBLE_EQ(check->disagreement, 1.0);
  EXPECT_NEAR(check->foreign_share, 72400.0 / 151400.0, 1e-12);
}

TEST(WireCheck, TakesWhatTheSenderRepeatedForNoForeignTraffic) {
  WireInput input{
      .payload_bytes = 137560, .rx_bytes = 151400, .rx_packets = 100, .header_bytes = 66};
  EXPECT_NEAR(check_wire(input)->disagreement, 7240.0 / 137560.0, 1e-12);
  for (const double repeated : {7240.0, 14480.0}) {  // of the latter, half were lost on the way
    input.repeated_bytes = repeated;
    EXPECT_EQ(check_wire(input)->disagreement, 0);
    EXPECT_EQ(check_wire(input)->foreign_share, 0);
  }
  input.repeated_bytes = 5792;
  EXPECT_NEAR(check_wire(input)->disagreement, 1448.0 / 137560.0, 1e-12);
}

TEST(WireCheck, ShowsPayloadThatTheInterfaceNeverSaw) {
  const auto check = check_wire(
      {.payload_bytes = 289600, .rx_bytes = 151400, .rx_packets = 100, .header_bytes = 66});
  EXPECT_DOUBLE_EQ(check->disagreement, 0.5);
  EXPECT_EQ(check->foreign_share, 0);
}

TEST(WireCheck, CannotTellWithoutCountersOrPayload) {
  EXPECT_FALSE(check_wire({.payload_bytes = 1, .rx_bytes = 0, .rx_packets = 0}).has_value());
  EXPECT_FALSE(check_wire({.payload_bytes = 0, .rx_bytes = 100, .rx_packets = 1}).has_value());
  EXPECT_FALSE(wire_input({{"if.eth1.rx_bytes", 5.0}}, "eth0", {}).has_value());
}

struct Transfer {
  Counters counters;
  std::int64_t received_bytes = 0;
};

// 32 MiB over TCP to the receiver's namespace; the counters are of its interface.
Transfer transfer(const Namespace& sender, const Namespace& receiver, const std::string& interface,
                  const std::string& address) {
  constexpr std::int64_t kBytes = 32 << 20;
  UniqueFd listener;
  UniqueFd out;
  {
    const Namespace::Stay stay(receiver);
    listener = tcp_listener(address, 7001);
  }
  {
    const Namespace::Stay stay(sender);
    out = tcp_connect(address, 7001);
  }
  const UniqueFd in(::accept(listener.get(), nullptr, nullptr));
  const Namespace::Stay stay(receiver);
  auto sampler = CounterSampler::open({.root = "/",
                                       .interface = interface,
                                       .known_pids = {},
                                       .nic_statistics = false,
                                       .network = nullptr});
  const auto before = sampler.take();
  std::thread writer([&] { send_bytes(out.get(), kBytes); });
  const std::int64_t received = receive_bytes(in.get(), kBytes);
  writer.join();
  return {delta(before, sampler.take()).counters, received};
}

TEST(WireCheck, AgreesWithinOnePercentOnAVethPair) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace there;
  here.run("ip link add va0 type veth peer name vb0 netns " + there.path());
  here.run("ip addr add 10.9.0.1/24 dev va0 && ip link set va0 up");
  there.run("ip addr add 10.9.0.2/24 dev vb0 && ip link set vb0 up");
  const auto done = transfer(here, there, "vb0", "10.9.0.2");
  auto input = wire_input(done.counters, "vb0", {});
  ASSERT_TRUE(input.has_value());
  input->payload_bytes = static_cast<double>(done.received_bytes);
  const auto check = check_wire(*input);
  ASSERT_TRUE(check.has_value());
  EXPECT_LT(check->disagreement, 0.01);
  EXPECT_LT(check->foreign_share, 0.01);
}

TEST(WireCheck, AgreesWithinOnePercentOnLoopback) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const auto done = transfer(here, here, "lo", "127.0.0.1");
  auto input = wire_input(done.counters, "lo", {.link_bytes = counted_link_header_bytes("", true)});
  ASSERT_TRUE(input.has_value());
  input->payload_bytes = static_cast<double>(done.received_bytes);
  const auto check = check_wire(*input);
  ASSERT_TRUE(check.has_value());
  EXPECT_LT(check->disagreement, 0.01);
}

}  // namespace
}  // namespace netbench::facts
