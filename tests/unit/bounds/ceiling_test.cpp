#include "report/bounds/ceiling.hpp"

#include <gtest/gtest.h>

namespace netbench::report {
namespace {

HostInfo host_with(std::int64_t speed_bps, std::int64_t mtu_bytes) {
  HostInfo host;
  host.name = "gpu0";
  host.interface = "eth1";
  host.addresses = {"192.168.1.100"};
  host.facts = {{"if.eth1.speed_bps", speed_bps, "", ""}, {"if.eth1.mtu_bytes", mtu_bytes, "", ""}};
  return host;
}

HostInfo veth_host() {
  HostInfo host = host_with(0, 1500);
  host.facts[0].value = {};
  host.facts[0].unknown_because = "veth reports a fictional speed";
  return host;
}

Measurement row_of(const std::string& transport) {
  Measurement row;
  row.transport = transport;
  row.size_bytes = 1 << 20;
  row.direction = Direction::forward;
  return row;
}

TEST(WireCeilingOfAMeasurement, TakesTheSlowerEndAndTheSmallerMtu) {
  const Ceiling ceiling =
      wire_ceiling(row_of("tcp"), host_with(25'000'000'000, 9000), host_with(10'000'000'000, 1500));
  EXPECT_NEAR(ceiling.goodput_bps.value(), 10e9 * 1448 / 1538, 1);
}

TEST(WireCeilingOfAMeasurement, RepeatsWhyAFactIsUnknown) {
  const Ceiling ceiling = wire_ceiling(row_of("tcp"), host_with(10'000'000'000, 1500), veth_host());
  EXPECT_FALSE(ceiling.goodput_bps.has_value());
  EXPECT_EQ(ceiling.note, "unknown, because veth reports a fictional speed");
}

TEST(WireCeilingOfAMeasurement, AGivenRateGoesBeforeTheFacts) {
  const Ceiling ceiling = wire_ceiling(row_of("tcp"), veth_host(), veth_host(),
                                       {.link_rate_bps = 100e6, .overhead_bytes = 14});
  EXPECT_NEAR(ceiling.goodput_bps.value(), 100e6 * 1448 / 1514, 1);
}

TEST(WireCeilingOfAMeasurement, FollowsTheMeasurementsMtuAndEffectiveSegment) {
  const HostInfo host = host_with(10'000'000'000, 9000);
  Measurement row = row_of("tcp");
  row.mtu_bytes = 1500;
  EXPECT_NEAR(wire_ceiling(row, host, host).goodput_bps.value(), 10e9 * 1448 / 1538, 1);
  row.mtu_bytes = 0;
  row.tunables.effective_initiator["tcp.mss"] = std::int64_t{536};
  EXPECT_NEAR(wire_ceiling(row, host, host).goodput_bps.value(), 10e9 * 536 / 626, 1);
}

TEST(WireCeilingOfAMeasurement, HeedsIpv6AndDisabledTimestamps) {
  HostInfo host = host_with(10'000'000'000, 1500);
  host.facts.push_back({"sysctl.net.ipv4.tcp_timestamps", std::int64_t{0}, "", ""});
  EXPECT_NEAR(wire_ceiling(row_of("tcp"), host, host).goodput_bps.value(), 10e9 * 1460 / 1538, 1);
  host.addresses = {"2001:db8::1"};
  EXPECT_NEAR(wire_ceiling(row_of("tcp"), host, host).goodput_bps.value(), 10e9 * 1440 / 1538, 1);
}

TEST(WireCeilingOfAMeasurement, BothDirectionsHaveTwice) {
  const HostInfo host = host_with(10'000'000'000, 1500);
  Measurement row = row_of("tcp");
  row.direction = Direction::both;
  EXPECT_NEAR(wire_ceiling(row, host, host).goodput_bps.value(), 20e9 * 1448 / 1538, 1);
}

TEST(WireCeilingOfAMeasurement, UdpTakesTheDatagramOfTheRow) {
  const HostInfo host = host_with(10'000'000'000, 1500);
  Measurement row = row_of("udp");
  row.size_bytes = 1472;
  EXPECT_NEAR(wire_ceiling(row, host, host).goodput_bps.value(), 10e9 * 1472 / 1538, 1);
}

TEST(WireCeilingOfAMeasurement, WithoutAWireThereIsNone) {
  const HostInfo host = host_with(10'000'000'000, 1500);
  EXPECT_EQ(wire_ceiling(row_of("sim"), host, host).note,
            "unknown, because sim is not bounded by an Ethernet wire");
  HostInfo bare;
  bare.name = "gpu1";
  EXPECT_EQ(wire_ceiling(row_of("tcp"), host, bare).note,
            "unknown, because the interface of gpu1 is not known");
}

}  // namespace
}  // namespace netbench::report
