#include <gtest/gtest.h>

#include "tests/unit/diagnose/lab_signature.hpp"

namespace netbench::report {
namespace {

using test::judge;
using test::lab;
using test::row_of;
using test::RowBuilder;
using test::serious_classes_of;

// Round trips of 10 ms behind a relay.
const test::Signature kSmallWindow{.mbps = 46.3,
                                   .srtt_us = 12'621,
                                   .min_us = 10'193,
                                   .rwnd = 0.99,
                                   .notsent_bytes = 200e3,
                                   .receiver_blocked = 0.99,
                                   .window_bytes = 80'480};

Verdict window_verdict(std::string_view id, const Document& document) {
  return judge(window_rules(), id, document);
}

RowBuilder fixed_window() {
  RowBuilder row = row_of(kSmallWindow);
  row.asked("tcp.rcvbuf", std::int64_t{65'536}).effective("tcp.rcvbuf", std::int64_t{131'072});
  return row;
}

TEST(WindowRules, NameAFixedReceiveBufferThatIsTooSmall) {
  const Document document = lab().row(fixed_window()).build();
  EXPECT_EQ(serious_classes_of(document), "W01");
  const Verdict verdict = window_verdict("tcp.receive-buffer", document);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
  EXPECT_NEAR(verdict.nearness, 0.91, 0.01);
  EXPECT_EQ(verdict.cause,
            "the receive buffer of nb-b is fixed at 128 KiB: too small for this path");
  EXPECT_EQ(verdict.remedy[1], "or --tcp.rcvbuf 262144");
}

TEST(WindowRules, RaiseALimitOnlyWhereItIsKnownToBeLower) {
  const auto mentions_limit = [](const Document& document) {
    const Verdict verdict = window_verdict("tcp.receive-buffer", document);
    return std::ranges::any_of(verdict.remedy, [](const std::string& line) {
      return line.find("rmem_max=262144") != std::string::npos;
    });
  };
  const auto with_limit = [](std::int64_t bytes) {
    return lab().row(fixed_window()).fact("h1", "sysctl.net.core.rmem_max_bytes", bytes).build();
  };
  EXPECT_TRUE(mentions_limit(with_limit(212'992)));
  EXPECT_FALSE(mentions_limit(with_limit(4'194'304)));
}

TEST(WindowRules, SeeASmallWindowThoughPacingHidesHalfOfItsShare) {
  test::Signature bbr = kSmallWindow;
  bbr.mbps = 35.0;
  bbr.srtt_us = 18'499;
  bbr.rwnd = 0.44;
  bbr.congestion = "bbr";
  RowBuilder row = row_of(bbr);
  row.asked("tcp.rcvbuf", std::int64_t{65'536});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W01");
}

TEST(WindowRules, NameASmallWindowOnALanByItsShareOfTheBusyTime) {
  RowBuilder row = row_of({.mbps = 416,
                           .srtt_us = 142,
                           .min_us = 3,
                           .busy = 0.52,
                           .rwnd = 0.52,
                           .spurious = 46,
                           .sender_blocked = 0.91,
                           .receiver_blocked = 0.91,
                           .window_bytes = 8'000});
  row.asked("tcp.rcvbuf", std::int64_t{4'096});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W01");
}

TEST(WindowRules, NameTheCeilingOfAutotuning) {
  RowBuilder row = row_of({.mbps = 73.2,
                           .srtt_us = 13'801,
                           .min_us = 10'134,
                           .rwnd = 0.38,
                           .spurious = 1,
                           .notsent_bytes = 1.5e6,
                           .sender_blocked = 0.99,
                           .receiver_blocked = 0.98,
                           .congestion = "bbr",
                           .window_bytes = 162'432});
  row.receiver({{"sock.rcvbuf_bytes", 262'144}});
  test::DocumentBuilder builder;
  builder.fact("sysctl.net.ipv4.tcp_moderate_rcvbuf", std::int64_t{1})
      .fact("sysctl.net.ipv4.tcp_rmem_max_bytes", std::int64_t{262'144})
      .row(row);
  EXPECT_EQ(serious_classes_of(builder.build()), "W02");
  const Verdict verdict = window_verdict("tcp.receive-autotuning-ceiling", builder.build());
  EXPECT_EQ(verdict.remedy.front(), "on nb-b: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 1048576\"");
}

TEST(WindowRules, KnowThatALowWaterMarkEndsAtHalfOfTheCeiling) {
  RowBuilder row = row_of({.mbps = 41.5,
                           .srtt_us = 16'492,
                           .min_us = 15'526,
                           .rwnd = 0.94,
                           .notsent_bytes = 534e3,
                           .window_bytes = 112'768});
  row.effective("tcp.lowat", std::int64_t{93'184}).receiver({{"sock.rcvbuf_bytes", 186'368}});
  test::DocumentBuilder builder;
  builder.fact("sysctl.net.ipv4.tcp_moderate_rcvbuf", std::int64_t{1})
      .fact("sysctl.net.ipv4.tcp_rmem_max_bytes", std::int64_t{372'736})
      .row(row);
  EXPECT_EQ(serious_classes_of(builder.build()), "W02");
}

TEST(WindowRules, NameAutotuningThatIsOff) {
  RowBuilder row = row_of({.mbps = 24.3,
                           .srtt_us = 20'538,
                           .min_us = 10'116,
                           .rwnd = 0.59,
                           .spurious = 6,
                           .notsent_bytes = 1e6,
                           .congestion = "bbr",
                           .window_bytes = 65'536});
  row.receiver({{"sock.rcvbuf_bytes", 131'072}, {"netstat.PruneCalled", 3}});
  test::DocumentBuilder builder;
  builder.fact("sysctl.net.ipv4.tcp_moderate_rcvbuf", std::int64_t{0})
      .fact("sysctl.net.ipv4.tcp_rmem_max_bytes", std::int64_t{33'554'432})
      .row(row);
  EXPECT_EQ(test::fired(builder.build(), Scope::stream).front().class_id, "W03");
  EXPECT_EQ(window_verdict("tcp.memory-pressure", builder.build()).outcome, Outcome::silent);
}

TEST(WindowRules, NameWindowScalingThatIsOff) {
  RowBuilder row = row_of({.mbps = 36.7,
                           .srtt_us = 12'940,
                           .min_us = 10'109,
                           .rwnd = 0.51,
                           .spurious = 2,
                           .notsent_bytes = 571e3,
                           .receiver_blocked = 0.99,
                           .congestion = "bbr",
                           .window_bytes = 65'535});
  row.sender({{"tcp_info.options", 3}, {"tcp_info.snd_wscale", 0}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W04");
}

TEST(WindowRules, LeaveAWindowAloneThatTheKernelTunes) {
  // Contention for CPUs: a large share of the time, far from the bound.
  RowBuilder row = row_of({.mbps = 6431,
                           .srtt_us = 68,
                           .min_us = 1,
                           .busy = 0.63,
                           .rwnd = 0.26,
                           .sender_blocked = 0.81,
                           .receiver_blocked = 0.93,
                           .sender_wait = 0.03});
  row.receiver({{"sock.rcvbuf_bytes", 6e6}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "");
  // A window that follows what the reader takes, near its bound.
  RowBuilder tuned = row_of({.mbps = 20'000,
                             .srtt_us = 1'000,
                             .min_us = 3,
                             .busy = 0.8,
                             .rwnd = 0.5,
                             .sender_blocked = 0.85,
                             .receiver_blocked = 0.85});
  tuned.receiver({{"sock.rcvbuf_bytes", 6e6}});
  EXPECT_EQ(serious_classes_of(lab().row(tuned).build()), "");
}

TEST(WindowRules, FireOnATicketThatSaysHowTheWindowHeldTheSenderBackAlone) {
  RowBuilder row = RowBuilder::stream(46.3e6);
  row.sender({{"tcp_info.snd_wnd", 80'480},
              {"tcp_info.rtt_us", 12'621},
              {"tcp_info.busy_time_us", 5e6},
              {"tcp_info.rwnd_limited_us", 4.9e6}});
  const Document document = test::DocumentBuilder().row(row).build();
  const Verdict verdict = window_verdict("tcp.receive-buffer", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires);
  EXPECT_EQ(verdict.confidence, Confidence::possible);
  EXPECT_EQ(window_verdict("tcp.send-buffer", document).outcome, Outcome::silent);
}

TEST(WindowRules, DistrustAWindowThatWasPassed) {
  RowBuilder row = RowBuilder::stream(500e6);
  row.sender({{"tcp_info.snd_wnd", 80'480}, {"tcp_info.rtt_us", 12'621}});
  EXPECT_EQ(window_verdict("tcp.receive-buffer", test::DocumentBuilder().row(row).build()).outcome,
            Outcome::unknown);
}

TEST(WindowRules, SayNothingOfWindowsWhereNothingGotThrough) {
  // A path-MTU black hole reads as if the window held it back all the time.
  test::Signature hole{.mbps = 0, .srtt_us = 168, .min_us = 168, .rwnd = 1, .notsent_bytes = 268e3};
  RowBuilder row = row_of(hole);
  row.asked("tcp.rcvbuf", std::int64_t{65'536})
      .sender({{"tcp_info.backoff", 3}, {"tcp_info.bytes_acked", 1'448}});
  const Document document = lab().row(row).build();
  for (const Rule& rule : window_rules()) {
    if (rule.scope == Scope::stream) {
      EXPECT_NE(judge(window_rules(), rule.id, document).outcome, Outcome::fires) << rule.id;
    }
  }
}

test::Signature small_send_buffer() {
  return {.mbps = 86.7,
          .srtt_us = 17'687,
          .min_us = 10'218,
          .busy = 0.98,
          .sndbuf = 0.01,
          .sender_blocked = 0.98,
          .receiver_blocked = 0.99};
}

TEST(SendRules, NameASmallSendBufferWhereTheKernelsOwnShareIsBlind) {
  RowBuilder row = row_of(small_send_buffer());
  row.asked("tcp.sndbuf", std::int64_t{65'536})
      .sender({{"sock.sndbuf_bytes", 131'072}, {"tcp_info.snd_cwnd", 711}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "W05");
  const Verdict verdict = window_verdict("tcp.send-buffer", document);
  EXPECT_EQ(verdict.cause,
            "the send buffer of nb-a (fixed at 128 KiB) holds less than this path needs in flight");
  EXPECT_GT(verdict.nearness, 0.9);
}

TEST(SendRules, AllowASuperPacketBeyondATinyBuffer) {
  test::Signature tiny = small_send_buffer();
  tiny.mbps = 65.9;
  tiny.srtt_us = 13'800;
  tiny.min_us = 13'200;
  RowBuilder row = row_of(tiny);
  row.asked("tcp.sndbuf", std::int64_t{24'576}).sender({{"sock.sndbuf_bytes", 49'152}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W05");
}

TEST(SendRules, NameItWithBbrTooAndAtTheKernelsCeiling) {
  test::Signature bbr = small_send_buffer();
  bbr.mbps = 78.0;
  bbr.srtt_us = 11'640;
  bbr.min_us = 10'147;
  bbr.sndbuf = 0.84;
  bbr.congestion = "bbr";
  RowBuilder row = row_of(bbr);
  row.sender({{"sock.sndbuf_bytes", 131'072}});
  test::DocumentBuilder builder;
  builder.fact("sysctl.net.ipv4.tcp_wmem_max_bytes", std::int64_t{131'072}).row(row);
  EXPECT_EQ(serious_classes_of(builder.build()), "W05");
}

TEST(SendRules, KnowThatPacingKeepsSomeOfASmallBufferUnsent) {
  test::Signature bbr = small_send_buffer();
  bbr.mbps = 49.4;
  bbr.srtt_us = 9'607;
  bbr.min_us = 9'272;
  bbr.sndbuf = 0.35;
  bbr.notsent_bytes = 14'480;
  bbr.congestion = "bbr";
  RowBuilder row = row_of(bbr);
  row.asked("tcp.sndbuf", std::int64_t{40'960}).sender({{"sock.sndbuf_bytes", 81'920}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W05");
}

TEST(SendRules, KnowThatASuperPacketOfATinyBufferMayWaitForPacing) {
  test::Signature bbr = small_send_buffer();
  bbr.mbps = 31.2;
  bbr.srtt_us = 11'200;
  bbr.min_us = 10'900;
  bbr.sndbuf = 0.4;
  bbr.notsent_bytes = 24'616;
  bbr.congestion = "bbr";
  RowBuilder row = row_of(bbr);
  row.asked("tcp.sndbuf", std::int64_t{18'432}).sender({{"sock.sndbuf_bytes", 36'864}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W05");
}

TEST(SendRules, LeaveABufferAloneInWhichDataWaits) {
  test::Signature queued = small_send_buffer();
  queued.notsent_bytes = 90e3;
  RowBuilder row = row_of(queued);
  row.asked("tcp.sndbuf", std::int64_t{65'536}).sender({{"sock.sndbuf_bytes", 131'072}});
  EXPECT_EQ(window_verdict("tcp.send-buffer", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(SendRules, NameAPacingCap) {
  RowBuilder row =
      row_of({.mbps = 198.7, .srtt_us = 65, .min_us = 3, .busy = 0.95, .notsent_bytes = 782e3});
  row.asked("tcp.pacing", std::int64_t{200'000'000}).sender({{"tcp_info.max_pacing_rate", 25e6}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "W09");
  EXPECT_EQ(window_verdict("tcp.pacing", document).remedy.front(), "leave out --tcp.pacing");
}

TEST(SendRules, SeeThatTheRateStillGrewOnALongPathAlone) {
  RowBuilder row = row_of({.mbps = 500, .srtt_us = 90'000, .min_us = 89'000});
  row.sender({{"tcp_info.snd_ssthresh", 2147483647}})
      .series_mbps({10, 50, 100, 200, 250, 300, 350, 400, 450, 500, 600, 700});
  EXPECT_EQ(window_verdict("tcp.still-growing", lab().row(row).build()).outcome, Outcome::fires);
  RowBuilder lan = row_of({.mbps = 500, .srtt_us = 90, .min_us = 30});
  lan.sender({{"tcp_info.snd_ssthresh", 2147483647}})
      .series_mbps({10, 50, 100, 200, 250, 300, 350, 400, 450, 500, 600, 700});
  EXPECT_EQ(window_verdict("tcp.still-growing", lab().row(lan).build()).outcome, Outcome::silent);
}

TEST(SendRules, SeeBurstsThatRestartTheWindow) {
  RowBuilder row =
      row_of({.mbps = 10, .srtt_us = 30'000, .min_us = 30'000, .busy = 0.1, .sender_blocked = 0});
  row.asked("tcp.write_rate", std::int64_t{10'000'000})
      .effective("tcp.write_rate", std::int64_t{10'000'000})
      .sender({{"tcp_info.rto_us", 230'000}});
  const Document document =
      lab().fact("sysctl.net.ipv4.tcp_slow_start_after_idle", std::int64_t{1}).row(row).build();
  EXPECT_EQ(window_verdict("tcp.slow-start-after-idle", document).outcome, Outcome::fires);
  EXPECT_EQ(test::fired(document, Scope::stream).front().class_id, "W07");
}

TEST(SendRules, BlameMissingOptionsForLossesAlone) {
  RowBuilder lossy = row_of(
      {.mbps = 9.8, .srtt_us = 11'611, .min_us = 10'000, .resent = 0.0095, .notsent_bytes = 33e3});
  lossy.sender({{"tcp_info.options", 5}});
  const Document document = lab().row(lossy).build();
  EXPECT_EQ(window_verdict("tcp.options-off", document).outcome, Outcome::fires);
  RowBuilder clean = row_of({.mbps = 900, .srtt_us = 600, .min_us = 500});
  clean.sender({{"tcp_info.options", 5}});
  EXPECT_EQ(window_verdict("tcp.options-off", lab().row(clean).build()).outcome, Outcome::silent);
}

TEST(ApplicationRules, NameASlowReaderThoughTheRoundTripGrows) {
  RowBuilder row = row_of({.mbps = 205,
                           .srtt_us = 5'195,
                           .min_us = 1,
                           .rwnd = 1,
                           .notsent_bytes = 2.5e6,
                           .receiver_blocked = 0.01});
  row.asked("tcp.read_rate", std::int64_t{200'000'000})
      .receiver({{"netstat.TCPToZeroWindowAdv", 244}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "W06");
  EXPECT_NEAR(window_verdict("app.slow-reader", document).nearness, 0.99, 1e-9);
}

TEST(ApplicationRules, SuspectASlowReaderByItsClosedWindowsAlone) {
  RowBuilder row = RowBuilder::stream(205e6);
  row.sender({{"tcp_info.busy_time_us", 5e6}, {"tcp_info.rwnd_limited_us", 5e6}})
      .receiver({{"netstat.TCPToZeroWindowAdv", 244}});
  const Verdict verdict =
      window_verdict("app.slow-reader", test::DocumentBuilder().row(row).build());
  EXPECT_EQ(verdict.outcome, Outcome::fires);
  EXPECT_EQ(verdict.confidence, Confidence::possible);
}

TEST(ApplicationRules, LeaveAReaderAloneThatRunsOrWaitsForItsCpu) {
  RowBuilder row = row_of({.mbps = 9'000,
                           .srtt_us = 500,
                           .min_us = 1,
                           .rwnd = 0.9,
                           .receiver_blocked = 0.02,
                           .receiver_cpu = 0.97});
  EXPECT_EQ(window_verdict("app.slow-reader", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(ApplicationRules, NameASlowWriter) {
  RowBuilder row = row_of(
      {.mbps = 200, .srtt_us = 601, .min_us = 1, .busy = 0.1, .spurious = 2, .sender_blocked = 0});
  row.asked("tcp.write_rate", std::int64_t{200'000'000});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "W07");
}

RowBuilder small_writes() {
  RowBuilder row = row_of({.mbps = 84.5,
                           .srtt_us = 73,
                           .min_us = 1,
                           .busy = 0.82,
                           .spurious = 12,
                           .sender_blocked = 0.01,
                           .receiver_blocked = 0.98,
                           .sender_cpu = 0.68,
                           .sender_wait = 0.32});
  row.size(64).sender({{"calls.send", 84.5e6 / 8 * 5 / 64}});
  return row;
}

TEST(ApplicationRules, NameSmallWrites) {
  const Document document = lab().row(small_writes()).build();
  EXPECT_EQ(serious_classes_of(document), "W14");
  EXPECT_EQ(window_verdict("app.small-writes", document).confidence, Confidence::likely);
}

TEST(ApplicationRules, LetLargerWritesInTheSweepSpeakAgainstTheirSize) {
  RowBuilder larger = RowBuilder::stream(90e6);
  larger.id("larger").size(4096);
  RowBuilder row = small_writes();
  const Document same = lab().row(row).row(larger).build();
  EXPECT_EQ(window_verdict("app.small-writes", same).outcome, Outcome::silent);
  RowBuilder faster = RowBuilder::stream(3'210e6);
  faster.id("faster").size(4096);
  EXPECT_EQ(window_verdict("app.small-writes", lab().row(row).row(faster).build()).outcome,
            Outcome::fires);
}

RowBuilder write_write_read(double p50_ns, bool nodelay) {
  RowBuilder row = RowBuilder::round_trips(p50_ns);
  row.asked("tcp.nodelay", nodelay)
      .effective("tcp.nodelay", nodelay)
      .sender({{"tcp_info.min_rtt_us", 15}})
      .receiver({{"netstat.DelayedACKs", 110}});
  return row;
}

TEST(ApplicationRules, NameNagleBesideDelayedAcknowledgements) {
  const Document document = lab().row(write_write_read(44.1e6, false)).build();
  const Verdict verdict = window_verdict("tcp.nagle", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires);
  EXPECT_EQ(verdict.confidence, Confidence::likely);
  EXPECT_EQ(test::classes_of(document, Scope::round_trips), "W11");
}

TEST(ApplicationRules, LeaveAFarPeerOrNoDelayAlone) {
  EXPECT_EQ(window_verdict("tcp.nagle", lab().row(write_write_read(44.1e6, true)).build()).outcome,
            Outcome::silent);
  RowBuilder far = write_write_read(80e6, false);
  far.sender({{"tcp_info.min_rtt_us", 79'000}});
  EXPECT_EQ(window_verdict("tcp.nagle", lab().row(far).build()).outcome, Outcome::silent);
}

TEST(WindowRules, NameTcpsMemoryPressure) {
  RowBuilder row = row_of({.mbps = 100, .srtt_us = 500, .min_us = 100});
  row.receiver({{"netstat.TCPMemoryPressures", 3}});
  EXPECT_EQ(window_verdict("tcp.memory-pressure", lab().row(row).build()).outcome, Outcome::fires);
}

}  // namespace
}  // namespace netbench::report
