#include "report/bounds/rdma_wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/bounds/limits.hpp"

namespace netbench::report {
namespace {

constexpr double k200G = 200e9;

double share(const RdmaLink& link, const RdmaMessages& messages) {
  return rdma_goodput_ceiling(link, messages).goodput_bps.value_or(0) / link.rate_bps;
}

TEST(RdmaWireCeiling, HasTheKnownEfficiencyOfLongRoceMessages) {
  const RdmaMessages sends{.size_bytes = 1 << 20, .remote_address = false};
  EXPECT_NEAR(share({k200G, RdmaWire::roce_v2, IpFamily::ipv4, 1024}, sends), 1024.0 / 1106, 1e-9);
  EXPECT_NEAR(share({k200G, RdmaWire::roce_v2, IpFamily::ipv4, 4096}, sends), 4096.0 / 4178, 1e-9);
  EXPECT_NEAR(share({k200G, RdmaWire::roce_v2, IpFamily::ipv6, 4096}, sends), 4096.0 / 4198, 1e-9);
  EXPECT_NEAR(share({k200G, RdmaWire::infiniband, {}, 4096}, sends), 4096.0 / 4122, 1e-9);
}

TEST(RdmaWireCeiling, CountsTheRemoteAddressOncePerMessage) {
  const RdmaLink link{k200G, RdmaWire::roce_v2, IpFamily::ipv4, 1024};
  EXPECT_NEAR(share(link, {.size_bytes = 4096}), 4096.0 / (4 * 1106 + 16), 1e-9);
  EXPECT_NEAR(share(link, {.size_bytes = 4096, .immediate = true}), 4096.0 / (4 * 1106 + 20), 1e-9);
  EXPECT_NEAR(share(link, {.size_bytes = 4096, .remote_address = false, .response = true}),
              4096.0 / (4 * 1106 + 8), 1e-9);
}

TEST(RdmaWireCeiling, PadsSmallMessagesAndShortFrames) {
  const RdmaLink link{k200G, RdmaWire::roce_v2, IpFamily::ipv4, 4096};
  EXPECT_NEAR(share(link, {.size_bytes = 1, .remote_address = false}), 1.0 / (48 + 38), 1e-9);
  const RdmaLink fabric{k200G, RdmaWire::infiniband, {}, 4096};
  EXPECT_NEAR(share(fabric, {.size_bytes = 2, .remote_address = false}), 2.0 / 30, 1e-9);
}

TEST(RdmaWireCeiling, AddsTheHeaderOfDatagrams) {
  const RdmaLink link{k200G, RdmaWire::roce_v2, IpFamily::ipv4, 1024};
  EXPECT_NEAR(share(link, {.size_bytes = 1024, .remote_address = false, .datagram = true}),
              1024.0 / 1114, 1e-9);
}

TEST(RdmaWireCeiling, FillsTcpSegmentsWithIwarp) {
  const RdmaLink link{k200G, RdmaWire::iwarp, IpFamily::ipv4, 1500};
  // 1500 - 20 - 20 - 6 - 14 = 1440 B of payload in a frame of 1538 B.
  EXPECT_NEAR(share(link, {.size_bytes = 1440 * 100}), 1440.0 / 1538, 1e-9);
}

TEST(RdmaWireCeiling, SaysWhyItIsUnknown) {
  EXPECT_EQ(rdma_goodput_ceiling({}, {.size_bytes = 1}).note,
            "unknown, because the link rate is not known");
  EXPECT_NE(rdma_goodput_ceiling({k200G}, {.size_bytes = 1}).note.find("no room"),
            std::string::npos);
}

HostInfo host(const char* name, double rate_bps, bool software = false) {
  HostInfo info{name, {"192.168.1.100"}, name, "eth0", {}};
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Value>>{
           {"rdma.mlx5_0.rate_bps", rate_bps},
           {"rdma.mlx5_0.software", software},
           {"rdma.mlx5_0.driver", std::string("mlx5")},
           {"rdma.mlx5_0.interface", std::string("eth0")},
           {"rdma.mlx5_0.link_layer", std::string("Ethernet")},
           {"rdma.mlx5_0.active_mtu_bytes", std::int64_t{4096}},
           {"rdma.mlx5_0.gid.3.type", std::string("RoCE v2")},
           {"rdma.mlx5_0.gid.3.address", std::string("::ffff:192.168.1.100")},
           {"rdma.mlx5_0.pcie.speed_gtps", 16.0},
           {"rdma.mlx5_0.pcie.width_lanes", std::int64_t{16}},
           {"rdma.mlx5_0.bridge.0000:40:01.1.speed_gts", 16.0},
           {"rdma.mlx5_0.bridge.0000:40:01.1.width", std::int64_t{4}},
           {"if.eth0.pcie.speed_gtps", 8.0},
           {"if.eth0.pcie.width_lanes", std::int64_t{1}}}) {
    info.facts.push_back({key, value, "test", ""});
  }
  return info;
}

Measurement write_row(const char* operation = "write") {
  Measurement row;
  row.id = "verbs/bandwidth/forward";
  row.transport = "verbs";
  row.workload = "bandwidth";
  row.direction = Direction::forward;
  row.size_bytes = 65536;
  row.summary.goodput_bps = 100e9;
  for (ValueMap* map : {&row.tunables.effective_initiator, &row.tunables.effective_responder}) {
    *map = {{"verbs.device", std::string("mlx5_0")}, {"verbs.op", std::string(operation)},
            {"verbs.gid_index", std::string("3")},   {"verbs.tx_depth", std::int64_t{128}},
            {"verbs.read_depth", std::int64_t{16}},  {"verbs.qps", std::int64_t{1}},
            {"verbs.wait", std::string("poll")}};
  }
  return row;
}

Document pair_of(Measurement row) {
  Document document;
  document.hosts["h0"] = host("nb-a", 200e9);
  document.hosts["h1"] = host("nb-b", 200e9);
  document.measurements.push_back(std::move(row));
  return document;
}

TEST(RdmaCeiling, TakesTheSlowerRailAndThePathMtuInEffect) {
  Measurement row = write_row();
  row.tunables.effective_initiator["verbs.path_mtu"] = std::int64_t{1024};
  const Ceiling ceiling = wire_ceiling(row, host("nb-a", 200e9), host("nb-b", 100e9));
  ASSERT_TRUE(ceiling.goodput_bps.has_value()) << ceiling.note;
  EXPECT_NEAR(*ceiling.goodput_bps, 100e9 * 65536 / (64 * 1106 + 16), 1e3);
  EXPECT_NE(ceiling.note.find("path MTU 1024"), std::string::npos) << ceiling.note;
}

TEST(RdmaCeiling, IsUnknownForSoftwareUnlessTheUserTellsTheRate) {
  const Measurement row = write_row();
  const HostInfo soft = host("nb-a", 2.5e9, true);
  EXPECT_EQ(wire_ceiling(row, soft, soft).note,
            "unknown, because software RDMA names a rate that is not its own");
  EXPECT_TRUE(wire_ceiling(row, soft, soft, {.link_rate_bps = 1e9}).goodput_bps.has_value());
}

TEST(RdmaCeiling, DoublesBothDirections) {
  Measurement row = write_row();
  const double one = *wire_ceiling(row, host("a", 200e9), host("b", 200e9)).goodput_bps;
  row.direction = Direction::both;
  EXPECT_DOUBLE_EQ(*wire_ceiling(row, host("a", 200e9), host("b", 200e9)).goodput_bps, 2 * one);
}

const Bound& bound(const std::vector<Bound>& bounds, std::string_view id) {
  static const Bound kNone;
  const auto found = std::ranges::find(bounds, id, &Bound::id);
  return found == bounds.end() ? kNone : *found;
}

Measurement round_trips(double ns) {
  Measurement row = write_row();
  row.id = "verbs/latency/none";
  row.workload = "latency";
  row.direction = Direction::none;
  row.size_bytes = 8;
  row.summary.goodput_bps.reset();
  row.summary.rtt_p50_ns = ns;
  return row;
}

TEST(RdmaLimits, AreTheRailsOwnSlotAndBridges) {
  const Document document = pair_of(write_row());
  const Bound slot = bound(limits_of(document, document.measurements[0]), "pcie");
  ASSERT_TRUE(slot.limit_bps.has_value());
  EXPECT_NEAR(*slot.limit_bps, 57.2e9, 0.1e9) << slot.arithmetic;
  EXPECT_NE(slot.arithmetic.find("bridge.0000:40:01.1"), std::string::npos) << slot.arithmetic;
}

TEST(RdmaLimits, DoNotTouchTheSlotOfATcpRow) {
  Measurement row = write_row();
  row.transport = "tcp";
  const Document document = pair_of(row);
  const Bound slot = bound(limits_of(document, document.measurements[0]), "pcie");
  EXPECT_NE(slot.arithmetic.find("if.eth0.pcie"), std::string::npos) << slot.arithmetic;
  EXPECT_FALSE(bound(limits_of(document, document.measurements[0]), "work-queue").limit_bps);
}

TEST(RdmaLimits, AreTheQueueOverTheRoundTrip) {
  Document document = pair_of(write_row());
  document.measurements.push_back(round_trips(4000));
  const auto bounds = limits_of(document, document.measurements[0]);
  EXPECT_NEAR(bound(bounds, "work-queue").limit_bps.value_or(0), 128 * 65536.0 * 8 / 4e-6, 1);
  EXPECT_FALSE(bound(bounds, "read-depth").limit_bps) << "a write waits for no answer";
}

TEST(RdmaLimits, AreTheReadsUnderWay) {
  Document document = pair_of(write_row("read"));
  document.measurements.push_back(round_trips(4000));
  document.measurements[0].tunables.effective_responder["verbs.read_depth"] = std::int64_t{1};
  const auto bounds = limits_of(document, document.measurements[0]);
  EXPECT_NEAR(bound(bounds, "read-depth").limit_bps.value_or(0), 65536.0 * 8 / 4e-6, 1);
}

TEST(RdmaLimits, DoNotBlameAThreadThatPolls) {
  const Document document = pair_of(write_row());
  const auto bounds = limits_of(document, document.measurements[0]);
  EXPECT_NE(bound(bounds, "sender-thread").arithmetic.find("poll"), std::string::npos);
}

TEST(RdmaLimits, MultiplyWhatOneQueuePairReached) {
  Document document = pair_of(write_row());
  Measurement four = write_row();
  four.id += "/qps=4";
  four.tunables.effective_initiator["verbs.qps"] = std::int64_t{4};
  document.measurements.push_back(four);
  const auto bounds = limits_of(document, document.measurements[1]);
  EXPECT_DOUBLE_EQ(bound(bounds, "one-queue-pair").limit_bps.value_or(0), 400e9);
}

}  // namespace
}  // namespace netbench::report
