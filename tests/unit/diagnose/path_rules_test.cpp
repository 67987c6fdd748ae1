#include <gtest/gtest.h>

#include "tests/unit/diagnose/lab_signature.hpp"

namespace netbench::report {
namespace {

using test::fired;
using test::judge;
using test::lab;
using test::row_of;
using test::RowBuilder;
using test::serious_classes_of;
using test::Signature;

Verdict path_verdict(std::string_view id, const Document& document) {
  return judge(path_rules(), id, document);
}

const Signature kRemoteBucket{
    .mbps = 95.6, .srtt_us = 55'514, .min_us = 5, .resent = 0.0011, .notsent_bytes = 775e3};

TEST(PathRules, NameARemoteBottleneckByItsQueue) {
  RowBuilder row = row_of(kRemoteBucket);
  row.receiver({{"sock.rmem_alloc_bytes", 591'032}});  // waits for a low-water mark of 1 MiB
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "Q01");
  const Verdict verdict = path_verdict("path.remote-bottleneck", document);
  EXPECT_EQ(verdict.cause,
            "something between nb-a and nb-b passes about 95.60 Mb/s and queues 55.5 ms");
  EXPECT_GT(verdict.nearness, 0.99);
}

TEST(PathRules, NameABucketTooSmallForItsRateTheSame) {
  Signature burst = kRemoteBucket;
  burst.mbps = 70;
  burst.srtt_us = 64'818;
  burst.min_us = 61;
  EXPECT_EQ(serious_classes_of(lab().row(row_of(burst)).build()), "Q01");
}

TEST(PathRules, LeaveTheQueueOfALocalShaperToItsRule) {
  RowBuilder row = row_of({.mbps = 95.7, .srtt_us = 9'182, .min_us = 2, .notsent_bytes = 426e3});
  row.sender({{"qdisc.eth0.packets", 41'000},
              {"qdisc.eth0.bytes", 60e6},
              {"qdisc.eth0.overlimits", 30'000},
              {"qdisc_max.eth0.backlog_bytes", 110e3}});
  const Document document = lab().fact("qdisc.eth0.kind", std::string("tbf")).row(row).build();
  EXPECT_EQ(path_verdict("path.remote-bottleneck", document).outcome, Outcome::silent);
  EXPECT_EQ(fired(document, Scope::stream).front().class_id, "L16");
}

TEST(PathRules, LetStreamsThatScaleSpeakAgainstASharedQueue) {
  const Document document = lab().row(row_of(kRemoteBucket)).moved("more-streams", 3.0).build();
  EXPECT_EQ(path_verdict("path.remote-bottleneck", document).outcome, Outcome::silent);
}

TEST(PathRules, SeekNoQueueOnThePathOfBusyHosts) {
  // A quota on the receiver's CPU lengthens round trips as well.
  RowBuilder waits = row_of({.mbps = 3'804,
                             .srtt_us = 6'752,
                             .min_us = 1,
                             .busy = 0.93,
                             .rwnd = 0.11,
                             .spurious = 102,
                             .sender_blocked = 0.86,
                             .receiver_blocked = 0.05,
                             .receiver_wait = 0.92});
  EXPECT_EQ(path_verdict("path.remote-bottleneck", lab().row(waits).build()).outcome,
            Outcome::silent);
  RowBuilder works = row_of({.mbps = 15'000,
                             .srtt_us = 6'000,
                             .min_us = 1,
                             .sender_blocked = 0.9,
                             .receiver_blocked = 0.9});
  works.sender({{"cpu.softirq_s", 4.0}});
  EXPECT_EQ(path_verdict("path.remote-bottleneck", lab().row(works).build()).outcome,
            Outcome::silent);
}

TEST(PathRules, NameOthersWhoFillTheQueueToo) {
  Signature second = kRemoteBucket;
  second.mbps = 40.6;
  second.srtt_us = 51'222;
  second.min_us = 14'831;
  RowBuilder idle = RowBuilder::round_trips(60e3);
  const Document document = lab().row(row_of(second)).row(idle).build();
  EXPECT_EQ(fired(document, Scope::stream).front().class_id, "Q06");
  RowBuilder seen = row_of(second);
  seen.receiver({{"if.eth0.rx_bytes", 40.6e6 / 8 * 5 * 2.2}});
  EXPECT_EQ(serious_classes_of(lab().row(seen).build()), "Q06");
}

const Signature kPolicer{.mbps = 117,
                         .srtt_us = 483,
                         .min_us = 4,
                         .busy = 0.99,
                         .resent = 0.093,
                         .spurious = 306,
                         .notsent_bytes = 1.3e6,
                         .sender_blocked = 0.98};

TEST(PathRules, SlowTheConnectionThatIsPolicedAndNotTheWholeInterface) {
  RowBuilder row = row_of(kPolicer);
  row.sender({{"netstat.TCPTimeouts", 18}, {"netstat.TCPLostRetransmit", 565}});
  const auto remedy = path_verdict("path.policer", lab().row(row).build()).remedy;
  ASSERT_FALSE(remedy.empty());
  EXPECT_EQ(remedy.front(), "--tcp.pacing 94M (in an application on nb-a: SO_MAX_PACING_RATE)");
  for (const auto& line : remedy) {
    EXPECT_EQ(line.find("tc qdisc"), std::string::npos) << line;
  }
}

TEST(PathRules, NameAPolicer) {
  RowBuilder row = row_of(kPolicer);
  row.sender({{"netstat.TCPTimeouts", 18},
              {"netstat.TCPSlowStartRetrans", 2938},
              {"netstat.TCPLostRetransmit", 565}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "Q03");
  EXPECT_EQ(path_verdict("path.policer", document).confidence, Confidence::likely);
}

TEST(PathRules, TakeHeavyLossThatScalesWithStreamsForRandom) {
  Signature heavy{.mbps = 5, .srtt_us = 10'800, .min_us = 10'000, .resent = 0.05, .seconds = 20};
  const Document document = lab().row(row_of(heavy)).moved("more-streams", 3.5).build();
  EXPECT_EQ(serious_classes_of(document), "Q04");
}

const Signature kRandomLoss{
    .mbps = 12.3, .srtt_us = 11'779, .min_us = 10'000, .resent = 0.0091, .notsent_bytes = 39e3};

TEST(PathRules, NameRandomLossByTheModel) {
  const Document document = lab().row(row_of(kRandomLoss)).build();
  EXPECT_EQ(serious_classes_of(document), "Q04");
  const Verdict verdict = path_verdict("path.loss", document);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
  EXPECT_GT(verdict.nearness, 0.9);
}

TEST(PathRules, NameRandomLossOfRenoBbrAndOnALan) {
  Signature reno = kRandomLoss;
  reno.mbps = 43.4;
  reno.srtt_us = 10'820;
  reno.resent = 0.0011;
  reno.congestion = "reno";
  reno.notsent_bytes = 2.3e6;
  EXPECT_EQ(serious_classes_of(lab().row(row_of(reno)).build()), "Q04");
  Signature bbr = kRandomLoss;
  bbr.mbps = 646;
  bbr.srtt_us = 12'229;
  bbr.resent = 0.0098;
  bbr.congestion = "bbr";
  bbr.notsent_bytes = 0;
  EXPECT_EQ(serious_classes_of(lab().row(row_of(bbr)).build()), "Q04");
  Signature lan{.mbps = 1'589,
                .srtt_us = 316,
                .min_us = 2,
                .busy = 0.63,
                .resent = 0.0103,
                .spurious = 66,
                .notsent_bytes = 178e3,
                .sender_blocked = 0.84,
                .receiver_blocked = 0.97};
  EXPECT_EQ(serious_classes_of(lab().row(row_of(lan)).build()), "Q04");
}

TEST(PathRules, SeeRareLossOnALongPath) {
  // 1 of 22,000 segments over 90 ms (a bad line card).
  Signature far{.mbps = 490,
                .srtt_us = 90'500,
                .min_us = 90'000,
                .resent = 1 / 22e3,
                .notsent_bytes = 1e6,
                .mss = 8948,
                .seconds = 300};
  EXPECT_EQ(serious_classes_of(lab().row(row_of(far)).build()), "Q04");
}

TEST(PathRules, SeeNoLossInNeedlessRetransmits) {
  Signature busy{.mbps = 2'500,
                 .srtt_us = 948,
                 .min_us = 1,
                 .busy = 0.78,
                 .spurious = 3'631,
                 .sender_blocked = 0.72,
                 .receiver_blocked = 0.98};
  EXPECT_EQ(serious_classes_of(lab().row(row_of(busy)).build()), "");
  // Duplicates that were not all reported: what arrived is counted at the other end.
  RowBuilder row = row_of(busy);
  row.sender({{"tcp_info.dsack_dups", 1'000}});
  EXPECT_EQ(path_verdict("path.loss", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(PathRules, LookForALocalCounterFirst) {
  RowBuilder row = row_of(kRandomLoss);
  row.receiver({{"softnet.dropped", 400}});
  const Document document = lab().row(row).build();
  const Verdict verdict = path_verdict("path.loss", document);
  EXPECT_EQ(verdict.outcome, Outcome::silent);
  EXPECT_NE(verdict.why.find("dropped from the backlog of a CPU on nb-b"), std::string::npos);
}

TEST(PathRules, NameAShallowBufferBetweenTwoSpeeds) {
  Signature slow{.mbps = 200, .srtt_us = 900, .min_us = 300, .resent = 0.004, .notsent_bytes = 1e6};
  RowBuilder row = row_of(slow);
  row.sender({{"netstat.TCPSackRecovery", 20}});
  RowBuilder back = row_of({.mbps = 940, .srtt_us = 900, .min_us = 300});
  Measurement reverse = back.build();
  test::DocumentBuilder builder = lab();
  builder.fact("h0", "if.eth0.speed_bps", std::int64_t{10'000'000'000})
      .fact("h1", "if.eth0.speed_bps", std::int64_t{1'000'000'000})
      .row(row);
  Document document = builder.build();
  document.hosts["h0"].facts.erase(
      std::ranges::find(document.hosts["h0"].facts, "if.eth0.speed_bps", &Fact::key));
  document.hosts["h1"].facts.erase(
      std::ranges::find(document.hosts["h1"].facts, "if.eth0.speed_bps", &Fact::key));
  reverse.direction = Direction::reverse;
  reverse.id = "reverse";
  document.measurements.push_back(reverse);
  EXPECT_EQ(fired(document, Scope::stream).front().class_id, "Q02");
  EXPECT_EQ(path_verdict("path.shallow-buffer", document).remedy.front(),
            "on nb-a: tc qdisc replace dev eth0 root fq maxrate 900mbit");
}

TEST(PathRules, SuspectAShortQueueWhereSegmentsAreLostInBursts) {
  RowBuilder row = row_of(
      {.mbps = 61.4, .srtt_us = 6'315, .min_us = 5'000, .resent = 0.011, .notsent_bytes = 166e3});
  row.sender({{"netstat.TCPSackRecovery", 31}});
  EXPECT_EQ(serious_classes_of(lab().fact("if.eth0.offload.tso", false).row(row).build()), "Q02");
  // Behind segmentation offload a dropped packet is a burst by itself.
  EXPECT_EQ(serious_classes_of(lab().fact("if.eth0.offload.tso", true).row(row).build()), "Q04");
}

// Measured behind a queue of 14 and of 22 packets.
TEST(PathRules, TellAShortQueueFromRandomLossByWhatIsLostTogether) {
  RowBuilder two = row_of(
      {.mbps = 69.3, .srtt_us = 4'048, .min_us = 2'965, .resent = 0.0043, .notsent_bytes = 166e3});
  two.sender({{"netstat.TCPSackRecovery", 50}});
  const Document document = lab().fact("if.eth0.offload.tso", false).row(two).build();
  EXPECT_EQ(serious_classes_of(document), "Q02");
  // The same loss one segment at a time.
  RowBuilder one = two;
  one.sender({{"netstat.TCPSackRecovery", 100}});
  EXPECT_EQ(serious_classes_of(lab().fact("if.eth0.offload.tso", false).row(one).build()), "Q04");
  // Without selective acknowledgements the kernel counts under another name.
  RowBuilder reno = two;
  reno.sender({{"netstat.TCPSackRecovery", 0}, {"netstat.TCPRenoRecovery", 100}});
  EXPECT_EQ(serious_classes_of(lab().fact("if.eth0.offload.tso", false).row(reno).build()), "Q04");
}

TEST(PathRules, TakeFramesOfAnMtuForSingleOnesWhateverTheOffloads) {
  RowBuilder row = row_of(
      {.mbps = 69.3, .srtt_us = 4'048, .min_us = 2'965, .resent = 0.0043, .notsent_bytes = 166e3});
  row.sender({{"netstat.TCPSackRecovery", 50}, {"if.eth0.tx_bytes", 43e6}});
  const auto sent_in = [&](double frames) {
    RowBuilder counted = row;
    counted.sender({{"if.eth0.tx_packets", frames}});
    return serious_classes_of(lab()
                                  .fact("if.eth0.offload.tso", true)
                                  .fact("if.eth0.mtu_bytes", std::int64_t{1500})
                                  .row(counted)
                                  .build());
  };
  EXPECT_EQ(sent_in(30e3), "Q02");
  EXPECT_EQ(sent_in(3e3), "Q04");
}

TEST(PathRules, SeeLossBesideAShaperThatLimits) {
  RowBuilder row = row_of({.mbps = 19.0,
                           .srtt_us = 11'832,
                           .min_us = 8'166,
                           .resent = 0.0027,
                           .notsent_bytes = 166e3,
                           .seconds = 8});
  row.sender({{"netstat.TCPSackRecovery", 33},
              {"qdisc.eth0.packets", 12'800},
              {"qdisc.eth0.overlimits", 12'100}});
  test::DocumentBuilder builder = lab();
  builder.fact("qdisc.eth0.kind", std::string("tbf")).fact("if.eth0.offload.tso", false).row(row);
  EXPECT_EQ(path_verdict("path.loss", builder.moved("more-streams", 1.0).build()).outcome,
            Outcome::silent);
  const Verdict verdict = path_verdict("path.loss-beside", builder.build());
  EXPECT_EQ(verdict.outcome, Outcome::fires) << verdict.why;
  EXPECT_EQ(verdict.confidence, Confidence::likely);
}

TEST(PathRules, SeeNoLossBesideALimitThatIsNoShaper) {
  const Signature lossy{.mbps = 12.3, .srtt_us = 11'779, .min_us = 10'000, .resent = 0.0091};
  RowBuilder row = row_of(lossy);
  row.sender({{"netstat.TCPSackRecovery", 40}});
  EXPECT_EQ(
      path_verdict("path.loss-beside", lab().row(row).moved("more-streams", 1.0).build()).outcome,
      Outcome::silent);
}

TEST(PathRules, SuspectAShallowBufferFromTheRatesOfATicket) {
  test::DocumentBuilder builder;
  builder.fact("h0", "if.eth0.speed_bps", std::int64_t{10'000'000'000})
      .fact("h1", "if.eth0.speed_bps", std::int64_t{1'000'000'000})
      .row(RowBuilder::stream(150e6))
      .row(RowBuilder::stream(930e6, Direction::reverse));
  EXPECT_EQ(path_verdict("path.shallow-buffer", builder.build()).outcome, Outcome::fires);
}

TEST(PathRules, NameReorderingAndNotTheQueueItLooksLike) {
  RowBuilder row = row_of({.mbps = 161,
                           .srtt_us = 9'791,
                           .min_us = 2'231,
                           .resent = 0.0004,
                           .spurious = 24,
                           .notsent_bytes = 297e3,
                           .sender_blocked = 0.99,
                           .receiver_blocked = 0.92});
  row.sender({{"tcp_info.reord_seen", 30'571}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(fired(document, Scope::stream).front().class_id, "Q05");
  EXPECT_NE(path_verdict("path.loss", document).outcome, Outcome::fires);
}

const Signature kAckLoss{.mbps = 335,
                         .srtt_us = 9'936,
                         .min_us = 3,
                         .busy = 0.94,
                         .resent = 0.0116,
                         .spurious = 1'679,
                         .notsent_bytes = 2e6,
                         .sender_blocked = 0.92};

TEST(PathRules, NameLostAcknowledgementsByCountingThemAtBothEnds) {
  RowBuilder row = row_of(kAckLoss);
  row.sender({{"netstat.TCPTimeouts", 7}, {"tcp_info.segs_in", 18'000}})
      .receiver({{"tcp_info.segs_out", 20'000}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "Q08");
}

TEST(PathRules, SuspectLostAcknowledgementsByNeedlessTimeoutsAlone) {
  RowBuilder row = row_of(kAckLoss);
  row.sender({{"netstat.TCPTimeouts", 7}});
  EXPECT_EQ(path_verdict("path.ack-loss", lab().row(row).build()).confidence, Confidence::possible);
  row.sender({{"tcp_info.segs_in", 20'001}}).receiver({{"tcp_info.segs_out", 20'000}});
  EXPECT_EQ(path_verdict("path.ack-loss", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(PathRules, NameCorruptionAndNotTheLossItMakes) {
  RowBuilder row = row_of(
      {.mbps = 22.5, .srtt_us = 4'796, .min_us = 4'000, .resent = 0.0091, .notsent_bytes = 51e3});
  row.receiver({{"snmp.Tcp.InCsumErrors", 89}, {"snmp.Tcp.InSegs", 9'700}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "Q09");
}

TEST(PathRules, CountTheHeadersOfSmallPacketsAsOurs) {
  RowBuilder row = row_of({.mbps = 150, .srtt_us = 450, .min_us = 3});
  row.receiver({{"if.eth0.rx_bytes", 150e6 / 8 * 5 * 1.9},
                {"if.eth0.rx_packets", 150e6 / 8 * 5 / 70},
                {"payload.received_bytes", 150e6 / 8 * 5}});
  EXPECT_EQ(path_verdict("path.cross-traffic", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(PathRules, SeeTwoWaysInTwoSteadyRates) {
  RowBuilder row = row_of({.mbps = 9'000, .srtt_us = 90, .min_us = 30});
  row.round_rates({9.4e9, 4.7e9, 9.3e9, 4.8e9, 9.4e9});
  EXPECT_EQ(path_verdict("path.uneven", lab().row(row).build()).outcome, Outcome::fires);
  row.round_rates({5.0e9, 5.8e9, 6.2e9, 6.9e9, 7.1e9});
  EXPECT_EQ(path_verdict("path.uneven", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(PathRules, NoteARouterBetweenTheHosts) {
  const Document routed = lab()
                              .fact("path.same_subnet", false)
                              .fact("path.gateway", std::string("192.168.1.1"))
                              .build();
  EXPECT_EQ(judge(path_rules(), "path.detour", routed, -1).outcome, Outcome::fires);
  const Document direct = lab()
                              .fact("path.same_subnet", true)
                              .fact("path.gateway", std::string("none: on the link"))
                              .build();
  EXPECT_EQ(judge(path_rules(), "path.detour", direct, -1).outcome, Outcome::silent);
}

TEST(PathRules, TellDatagramsLostOnThePathFromThoseOfTheSocket) {
  RowBuilder row = RowBuilder::datagrams(1e9);
  row.receiver({{"udp.expected", 20'000}, {"udp.lost", 500}, {"udp.socket_drops", 0}});
  EXPECT_EQ(path_verdict("path.datagram-loss", lab().row(row).build()).outcome, Outcome::fires);
  row.receiver({{"udp.socket_drops", 500}});
  EXPECT_EQ(path_verdict("path.datagram-loss", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(PathRules, RankTheNearerOfTwoCausesFirst) {
  // 0.5 % loss, and a window that is not in the way.
  Signature window{.mbps = 15.9,
                   .srtt_us = 12'000,
                   .min_us = 10'100,
                   .resent = 0.005,
                   .notsent_bytes = 60e3,
                   .window_bytes = 80'480};
  RowBuilder row = row_of(window);
  row.asked("tcp.rcvbuf", std::int64_t{65'536});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "Q04");
  // A hop of 100 Mb/s, and loss that would allow twice as much.
  Signature hop = kRemoteBucket;
  hop.mbps = 89;
  hop.resent = 0.01;
  EXPECT_EQ(serious_classes_of(lab().row(row_of(hop)).build()), "Q01");
}

TEST(PathRules, SayNothingOfLossWhereNothingGotThrough) {
  Signature hole{.mbps = 0.001,
                 .srtt_us = 168,
                 .min_us = 168,
                 .rwnd = 1,
                 .resent = 0.9,
                 .notsent_bytes = 268e3};
  RowBuilder row = row_of(hole);
  row.sender({{"tcp_info.backoff", 3}, {"tcp_info.total_retrans", 100}});
  EXPECT_EQ(path_verdict("path.policer", lab().row(row).build()).outcome, Outcome::silent);
  EXPECT_EQ(path_verdict("path.loss", lab().row(row).build()).outcome, Outcome::silent);
}

}  // namespace
}  // namespace netbench::report
