#include "report/bounds/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace netbench::report {
namespace {

/// A TCP stream from h0 to h1 with these counters at its ends, over one round of 5 s.
Document document_with(double goodput_bps, Counters sender, Counters receiver = {}) {
  Document document;
  document.hosts["h0"] = {"nb-a", {"192.168.1.100"}, "", "eth0", {}};
  document.hosts["h1"] = {"nb-b", {"192.168.1.101"}, "", "eth0", {}};
  Measurement row;
  row.id = "row";
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = Direction::forward;
  row.summary.goodput_bps = goodput_bps;
  row.tunables.effective_initiator["tcp.congestion"] = std::string("cubic");
  Round round;
  round.duration_ns = 5'000'000'000;
  round.initiator.counters = std::move(sender);
  round.responder.counters = std::move(receiver);
  row.rounds.push_back(round);
  document.measurements.push_back(row);
  return document;
}

Bound bound_of(const Document& document, std::string_view id) {
  const auto bounds = limits_of(document, document.measurements.front());
  const auto found = std::ranges::find(bounds, id, &Bound::id);
  return found == bounds.end() ? Bound{} : *found;
}

void set_streams(Document& document, std::int64_t count) {
  document.measurements[0].tunables.effective_initiator["tcp.streams"] = count;
}

TEST(LimitsOfARow, NameEveryBoundOnceWithItsReasonWhereItIsUnknown) {
  const Document document = document_with(1e9, {});
  const auto bounds = limits_of(document, document.measurements[0]);
  EXPECT_EQ(bounds.size(), 13U);
  for (const Bound& bound : bounds) {
    EXPECT_FALSE(bound.limit_bps.has_value()) << bound.id;
    EXPECT_EQ(bound.arithmetic.rfind("unknown, because ", 0), 0U) << bound.arithmetic;
  }
}

TEST(LimitsOfARow, DivideTheLargestWindowByTheSmoothedRoundTrip) {
  const Bound bound = bound_of(
      document_with(46.3e6, {{"tcp_info_max.snd_wnd", 80'480}, {"tcp_info.rtt_us", 12'621}}),
      "receive-window");
  EXPECT_NEAR(bound.limit_bps.value(), 51.0e6, 0.1e6);
  EXPECT_NEAR(bound.nearness, 0.91, 0.01);
  EXPECT_EQ(bound.end, "h1");
  EXPECT_EQ(bound.evidence.front(),
            "/measurements/0/rounds/0/counters/initiator/tcp_info_max.snd_wnd");
}

TEST(LimitsOfARow, DoNotMultiplyGaugesThatAreSumsAlready) {
  Document document =
      document_with(46.3e6, {{"tcp_info.snd_wnd", 80'480}, {"tcp_info.rtt_us", 12'621}});
  const double one = bound_of(document, "receive-window").limit_bps.value();
  set_streams(document, 4);
  EXPECT_DOUBLE_EQ(bound_of(document, "receive-window").limit_bps.value(), one);
}

TEST(LimitsOfARow, TakeTheRoundTripAtItsSmallestForTheSendBuffer) {
  const Bound bound = bound_of(document_with(86.7e6, {{"sock.sndbuf_bytes", 131'072},
                                                      {"tcp_info.min_rtt_us", 10'218},
                                                      {"tcp_info.rtt_us", 17'687}}),
                               "send-buffer");
  EXPECT_NEAR(bound.limit_bps.value(), 87.2e6, 0.1e6);
}

TEST(LimitsOfARow, MultiplyASettingOfOneConnectionByTheStreams) {
  Document document = document_with(300e6, {{"tcp_info.min_rtt_us", 10'000}});
  document.measurements[0].tunables.requested["tcp.sndbuf"] = std::int64_t{65'536};
  document.measurements[0].tunables.effective_initiator["tcp.sndbuf"] = std::int64_t{131'072};
  set_streams(document, 4);
  EXPECT_NEAR(bound_of(document, "send-buffer").limit_bps.value(), 356.5e6, 0.1e6);
}

TEST(LimitsOfARow, IgnoreTheInitialSizeOfABufferThatTheKernelTunes) {
  Document document = document_with(300e6, {{"tcp_info.min_rtt_us", 10'000}});
  document.measurements[0].tunables.effective_initiator["tcp.sndbuf"] = std::int64_t{46'080};
  EXPECT_FALSE(bound_of(document, "send-buffer").limit_bps.has_value());
}

Document lossy(const std::string& congestion, double dsacks, double arrived) {
  Document document = document_with(12.3e6,
                                    {{"tcp_info.total_retrans", 53},
                                     {"tcp_info.dsack_dups", dsacks},
                                     {"tcp_info.data_segs_out", 5'353},
                                     {"tcp_info.snd_mss", 1448},
                                     {"tcp_info.rtt_us", 11'779}},
                                    {{"tcp_info.data_segs_in", arrived}});
  document.measurements[0].tunables.effective_initiator["tcp.congestion"] = congestion;
  return document;
}

TEST(LimitsOfARow, ModelLossForRenoAndCubicAlone) {
  const Bound bound = bound_of(lossy("cubic", 0, 5'300), "loss");
  EXPECT_NEAR(bound.limit_bps.value(), 12.1e6, 0.1e6);
  EXPECT_FALSE(bound_of(lossy("bbr", 0, 5'300), "loss").limit_bps.has_value());
}

TEST(LimitsOfARow, SeeNoLossWhereRetransmitsWereNeedless) {
  EXPECT_FALSE(bound_of(lossy("cubic", 53, 5'353), "loss").limit_bps.has_value());
  const Bound counted = bound_of(lossy("cubic", 0, 5'353), "loss");
  EXPECT_FALSE(counted.limit_bps.has_value());
  EXPECT_EQ(counted.arithmetic,
            "unknown, because 0 lost segments are too few for a rate (20 needed)");
}

TEST(LimitsOfARow, KnowThatNoPacingCapIsSet) {
  EXPECT_FALSE(
      bound_of(document_with(1e9, {{"tcp_info.max_pacing_rate", 1.8446744073709552e19}}), "pacing")
          .limit_bps.has_value());
  Document capped = document_with(198.7e6, {{"tcp_info.max_pacing_rate", 25e6}});
  EXPECT_NEAR(bound_of(capped, "pacing").nearness, 0.9935, 1e-4);
  set_streams(capped, 4);
  EXPECT_NEAR(bound_of(capped, "pacing").limit_bps.value(), 800e6, 1);
}

TEST(LimitsOfARow, DivideByTheShareOfTimeThatAThreadRanOrWaited) {
  const Document document = document_with(84.5e6, {{"send.elapsed_s", 5},
                                                   {"send.cpu_s", 3.4},
                                                   {"send.wait_s", 1.6},
                                                   {"send.blocked_s", 0},
                                                   {"send.busiest_cpu_share", 0.68}});
  EXPECT_NEAR(bound_of(document, "sender-thread").nearness, 1.0, 1e-9);
  EXPECT_NEAR(bound_of(document, "sender-application").nearness, 1.0, 1e-9);
}

TEST(LimitsOfARow, TakeTheBusiestCpuOfEitherEndForSoftirq) {
  const Bound bound = bound_of(document_with(10e9, {{"cpu.0.softirq_s", 1}},
                                             {{"cpu.1.softirq_s", 2}, {"cpu.3.softirq_s", 4.5}}),
                               "softirq");
  EXPECT_NEAR(bound.limit_bps.value(), 10e9 / 0.9, 1e3);
  EXPECT_EQ(bound.end, "h1");
  EXPECT_EQ(bound.arithmetic, "measured / 0.90 of CPU 3's time in softirq");
}

TEST(LimitsOfARow, TakeTheNarrowestSlotOfTheChain) {
  Document document = document_with(13.9e9, {});
  auto& facts = document.hosts["h1"].facts;
  facts = {{"if.eth0.pcie.speed_gtps", 8.0, "", ""},
           {"if.eth0.pcie.max_speed_gtps", 16.0, "", ""},
           {"if.eth0.pcie.width_lanes", std::int64_t{8}, "", ""},
           {"pcie.0000:00:1c.0.speed_gts", 5.0, "", ""},
           {"pcie.0000:00:1c.0.width", std::int64_t{4}, "", ""}};
  const Bound bound = bound_of(document, "pcie");
  EXPECT_NEAR(bound.limit_bps.value(), 14.5e9, 0.05e9);
  EXPECT_EQ(bound.end, "h1");
  facts.resize(3);
  EXPECT_NEAR(bound_of(document, "pcie").limit_bps.value(), 57.2e9, 0.05e9);
}

TEST(LimitsOfARow, GiveEachFlowOneMemberOfABond) {
  Document document = document_with(9.4e9, {});
  document.hosts["h0"].facts = {{"bond.bond0.eth0.speed_bps", std::int64_t{10'000'000'000}, "", ""},
                                {"bond.bond0.eth1.speed_bps", std::int64_t{10'000'000'000}, "", ""},
                                {"if.eth0.mtu_bytes", std::int64_t{1500}, "", ""}};
  document.hosts["h1"].facts = {{"if.eth0.mtu_bytes", std::int64_t{1500}, "", ""}};
  const double member = 10e9 * 1448 / 1538;
  EXPECT_NEAR(bound_of(document, "bond-member").limit_bps.value(), member, 1);
  set_streams(document, 8);
  EXPECT_NEAR(bound_of(document, "bond-member").limit_bps.value(), 2 * member, 1);
}

TEST(LimitsOfARow, RankTheNearestFirstAndBrokenOnesBehind) {
  Document document = document_with(100e6, {{"tcp_info.snd_wnd", 10'000},
                                            {"tcp_info.rtt_us", 10'000},
                                            {"tcp_info.snd_cwnd", 200},
                                            {"tcp_info.snd_mss", 1448},
                                            {"tcp_info.max_pacing_rate", 13e6}});
  const auto bounds = limits_of(document, document.measurements[0]);
  EXPECT_EQ(bounds[0].id, "pacing");
  EXPECT_EQ(bounds[1].id, "congestion-window");
  EXPECT_EQ(bounds[2].id, "receive-window");
  EXPECT_NE(bounds[2].arithmetic.find("broken: 12.5 times"), std::string::npos);
}

TEST(LimitsOfARow, RepeatTheWireAsTheRowHasIt) {
  Document document = document_with(94e6, {});
  document.measurements[0].summary.ceiling_bps = 95.6e6;
  document.measurements[0].summary.ceiling_note = "100 Mb/s x 1448 B / 1514 B";
  const Bound bound = bound_of(document, "wire");
  EXPECT_EQ(bound.arithmetic, "100 Mb/s x 1448 B / 1514 B");
  EXPECT_NEAR(bound.nearness, 0.983, 1e-3);
}

TEST(LimitsOfARow, LookAtTheOtherHostWhereTheResponderSends) {
  Document document = document_with(46.3e6, {});
  document.measurements[0].direction = Direction::reverse;
  document.measurements[0].rounds[0].responder.counters = {{"tcp_info.snd_wnd", 80'480},
                                                           {"tcp_info.rtt_us", 12'621}};
  const Bound bound = bound_of(document, "receive-window");
  EXPECT_EQ(bound.end, "h0");
  EXPECT_TRUE(bound.limit_bps.has_value());
}

}  // namespace
}  // namespace netbench::report
