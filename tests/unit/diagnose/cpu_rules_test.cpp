#include <gtest/gtest.h>

#include "report/diagnose/diagnose.hpp"
#include "report/document/document.hpp"
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

Verdict cpu_verdict(std::string_view id, const Document& document, int row = 0) {
  return judge(cpu_rules(), id, document, row);
}

const Signature kOneCore{.mbps = 22'000,
                         .srtt_us = 300,
                         .min_us = 3,
                         .busy = 0.8,
                         .sender_blocked = 0.03,
                         .receiver_blocked = 0.5,
                         .sender_cpu = 0.96,
                         .receiver_cpu = 0.48};

TEST(CpuRules, NoteOneBusyThreadWhereTheWireIsNotKnown) {
  const Document document = lab().row(row_of(kOneCore)).build();
  const auto verdict = cpu_verdict("cpu.one-thread", document);
  EXPECT_EQ(verdict.outcome, Outcome::fires);
  EXPECT_EQ(verdict.severity, Severity::info);
  EXPECT_EQ(serious_classes_of(document), "");
}

TEST(CpuRules, WarnOfItWhereTheWireCarriesFourTimesAsMuch) {
  RowBuilder row = row_of(kOneCore);
  row.ceiling(94e9);
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "K01");
}

TEST(CpuRules, LeaveABusyThreadOnAFullWireAlone) {
  RowBuilder row = row_of(kOneCore);
  row.ceiling(23.5e9);
  EXPECT_EQ(cpu_verdict("cpu.one-thread", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(CpuRules, LeaveSmallWritesToTheirRule) {
  Signature small = kOneCore;
  small.mbps = 84.5;
  RowBuilder row = row_of(small);
  row.size(64).sender({{"calls.send", 84.5e6 / 8 * 5 / 64}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(cpu_verdict("cpu.one-thread", document).outcome, Outcome::silent);
  EXPECT_EQ(serious_classes_of(document), "W14");
}

RowBuilder softirq_bound() {
  RowBuilder row = row_of({.mbps = 12'000, .srtt_us = 800, .min_us = 30});
  row.receiver({{"cpu.busy_s", 7},
                {"cpu.3.busy_s", 4.9},
                {"cpu.3.softirq_s", 4.6},
                {"cpu.5.busy_s", 2},
                {"cpu.5.softirq_s", 0.1}})
      .ceiling(94e9);
  return row;
}

TEST(CpuRules, NameTheOneCoreThatHandlesAllPackets) {
  test::DocumentBuilder builder;
  builder.fact("cpu.logical_count", std::int64_t{8})
      .fact("if.eth0.channels.max_combined", std::int64_t{8})
      .row(softirq_bound());
  EXPECT_EQ(serious_classes_of(builder.build()), "K02");
  const Verdict verdict = cpu_verdict("cpu.one-softirq-core", builder.build());
  EXPECT_EQ(verdict.remedy.front(), "on nb-b: ethtool -L eth0 combined 8");
}

TEST(CpuRules, LeaveCoresAloneThatAreAllBusy) {
  RowBuilder row = softirq_bound();
  row.receiver({{"cpu.busy_s", 30}});
  const Document document =
      test::DocumentBuilder().fact("cpu.logical_count", std::int64_t{8}).row(row).build();
  EXPECT_NE(cpu_verdict("cpu.one-softirq-core", document).outcome, Outcome::fires);
}

TEST(CpuRules, NameAVirtualCardWithOneQueue) {
  test::DocumentBuilder builder;
  builder.fact("cpu.logical_count", std::int64_t{8})
      .fact("if.eth0.driver", std::string("virtio_net"))
      .fact("if.eth0.channels.combined", std::int64_t{1})
      .row(softirq_bound());
  EXPECT_EQ(cpu_verdict("vm.single-queue", builder.build()).outcome, Outcome::fires);
}

TEST(CpuRules, NameInterruptsThatAllGoToOneCoreOrAnotherNode) {
  test::DocumentBuilder builder;
  builder.fact("if.eth0.irq.count", std::int64_t{16})
      .fact("if.eth0.irq.cpu_count", std::int64_t{1})
      .fact("if.eth0.irq.cpus", std::string("0"))
      .fact("cpu.online_count", std::int64_t{64});
  EXPECT_EQ(cpu_verdict("cpu.interrupt-affinity", builder.build(), -1).outcome, Outcome::fires);
  test::DocumentBuilder far;
  far.fact("if.eth0.irq.count", std::int64_t{16})
      .fact("if.eth0.irq.cpu_count", std::int64_t{16})
      .fact("if.eth0.irq.cpus", std::string("32-47"))
      .fact("if.eth0.irq.far_cpus", std::string("32-47"))
      .fact("cpu.online_count", std::int64_t{64});
  EXPECT_EQ(cpu_verdict("cpu.interrupt-affinity", far.build(), -1).outcome, Outcome::fires);
  EXPECT_EQ(cpu_verdict("cpu.interrupt-affinity", lab().build(), -1).outcome, Outcome::unknown);
}

const Signature kHogged{.mbps = 6'431,
                        .srtt_us = 68,
                        .min_us = 1,
                        .busy = 0.63,
                        .rwnd = 0.26,
                        .spurious = 49,
                        .sender_blocked = 0.4,
                        .receiver_blocked = 0.2,
                        .sender_cpu = 0.14,
                        .receiver_cpu = 0.22,
                        .sender_wait = 0.46,
                        .receiver_wait = 0.58};

TEST(CpuRules, NameContentionAndNotTheWindowItCloses) {
  RowBuilder row = row_of(kHogged);
  row.receiver({{"netstat.TCPToZeroWindowAdv", 1'494}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "K04");
  EXPECT_NEAR(cpu_verdict("cpu.contention", document).nearness, 0.8, 1e-9);
}

TEST(CpuRules, NameTheQuotaWhereItIsWhatMakesThreadsWait) {
  Signature quota{.mbps = 3'804,
                  .srtt_us = 6'752,
                  .min_us = 1,
                  .busy = 0.93,
                  .rwnd = 0.12,
                  .spurious = 102,
                  .sender_blocked = 0.85,
                  .receiver_blocked = 0.03,
                  .receiver_wait = 0.92};
  RowBuilder row = row_of(quota);
  row.receiver({{"cgroup.nr_periods", 50}, {"cgroup.nr_throttled", 46}});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document), "K05");
  EXPECT_NEAR(cpu_verdict("cpu.quota", document).nearness, 0.92, 1e-9);
}

TEST(CpuRules, SuspectTheGovernorWhereOneCoreIsTheLimitAlone) {
  test::DocumentBuilder builder;
  builder.fact("cpu.governor", std::string("powersave"))
      .fact("cpu.frequency_cur_hz", 1.2e9)
      .fact("cpu.frequency_max_hz", 3.6e9)
      .row(row_of(kOneCore));
  EXPECT_EQ(cpu_verdict("cpu.clock-frequency", builder.build()).outcome, Outcome::fires);
  Signature idle = kOneCore;
  idle.sender_cpu = 0.3;
  test::DocumentBuilder quiet;
  quiet.fact("cpu.governor", std::string("powersave"))
      .fact("cpu.frequency_cur_hz", 1.2e9)
      .fact("cpu.frequency_max_hz", 3.6e9)
      .row(row_of(idle));
  EXPECT_EQ(cpu_verdict("cpu.clock-frequency", quiet.build()).outcome, Outcome::silent);
}

TEST(CpuRules, SuspectSleepStatesAndBelieveTheExperiment) {
  test::DocumentBuilder builder;
  builder.fact("cpu.cstate_deepest_latency_us", std::int64_t{133})
      .row(RowBuilder::round_trips(80e3));
  const Verdict guess = cpu_verdict("cpu.sleep-states", builder.build());
  EXPECT_EQ(guess.outcome, Outcome::fires);
  EXPECT_EQ(guess.confidence, Confidence::possible);
  EXPECT_EQ(cpu_verdict("cpu.sleep-states", builder.moved("busy-latency", 0.4).build()).confidence,
            Confidence::likely);
  test::DocumentBuilder awake;
  awake.fact("cpu.cstate_deepest_latency_us", std::int64_t{133})
      .row(RowBuilder::round_trips(80e3))
      .moved("busy-latency", 0.97);
  EXPECT_EQ(cpu_verdict("cpu.sleep-states", awake.build()).outcome, Outcome::silent);
}

TEST(CpuRules, NameBacklogDropsThatExplainTheLoss) {
  Signature lossy{.mbps = 900, .srtt_us = 400, .min_us = 60, .resent = 0.004};
  RowBuilder row = row_of(lossy);
  row.receiver({{"softnet.dropped", 1'560}, {"softnet.processed", 390e3}});
  EXPECT_EQ(serious_classes_of(lab().row(row).build()), "K08");
}

TEST(CpuRules, LeaveBacklogDropsOfOthersAlone) {
  RowBuilder row = row_of({.mbps = 9'000, .srtt_us = 400, .min_us = 6, .busy = 0.8});
  row.receiver({{"softnet.dropped", 169}});
  EXPECT_EQ(cpu_verdict("cpu.backlog-drops", lab().row(row).build()).outcome, Outcome::silent);
}

TEST(CpuRules, NoteWhatElseTheHostsRun) {
  RowBuilder row = row_of(kOneCore);
  row.receiver({{"packet_sockets.foreign", 2}, {"cpu.steal_s", 1.5}, {"cpu.busy_s", 4}})
      .sender({{"conntrack.count", 12}});
  const Document document = lab().row(row).build();
  for (const char* id : {"cpu.packet-taps", "vm.steal", "cpu.firewall"}) {
    EXPECT_EQ(cpu_verdict(id, document).outcome, Outcome::fires) << id;
  }
  EXPECT_EQ(serious_classes_of(document), "");
}

TEST(CpuRules, NameAVirtualCardWithoutOffloads) {
  test::DocumentBuilder builder;
  builder.fact("if.eth0.driver", std::string("virtio_net"))
      .fact("if.eth0.offload.tso", false)
      .fact("if.eth0.offload.tx_checksum", false);
  EXPECT_EQ(cpu_verdict("vm.no-offload", builder.build(), -1).outcome, Outcome::fires);
}

TEST(CpuRules, NoteAContainersVirtualLink) {
  const Document document = lab().fact("host.container", std::string("docker")).build();
  EXPECT_EQ(cpu_verdict("container.path", document, -1).outcome, Outcome::fires);
}

TEST(CpuRules, SuspectMemoryWhereNobodyWaits) {
  Signature flat_out{.mbps = 40'000,
                     .srtt_us = 100,
                     .min_us = 10,
                     .sender_blocked = 0.15,
                     .receiver_blocked = 0.12,
                     .sender_cpu = 0.85,
                     .receiver_cpu = 0.88};
  const Document document = lab().row(row_of(flat_out)).moved("discard", 1.5).build();
  EXPECT_EQ(cpu_verdict("cpu.memory-bandwidth", document).outcome, Outcome::fires);
  const Document same = lab().row(row_of(flat_out)).moved("discard", 1.02).build();
  EXPECT_EQ(cpu_verdict("cpu.memory-bandwidth", same).outcome, Outcome::silent);
}

RowBuilder overflowing(double drops) {
  RowBuilder row = RowBuilder::datagrams(1e6);
  row.effective("udp.rate", std::int64_t{1'000'000'000})
      .receiver({{"udp.expected", 20'000},
                 {"udp.lost", 19'997},
                 {"udp.socket_drops", drops},
                 {"snmp.Udp.RcvbufErrors", drops},
                 {"snmp.Udp.InDatagrams", 3}});
  return row;
}

TEST(CpuRules, NameTheReceiversSocketAndNotTheNetwork) {
  RowBuilder row = overflowing(19'997);
  row.asked("udp.rcvbuf", std::int64_t{4'096}).effective("udp.rcvbuf", std::int64_t{8'192});
  const Document document = lab().row(row).build();
  EXPECT_EQ(serious_classes_of(document, Scope::datagrams), "K14");
  EXPECT_EQ(cpu_verdict("udp.receive-buffer", document).cause,
            "the receive buffer of nb-b (8 KiB) overflows: the loss is the receiver's own, not the "
            "network's");
}

TEST(CpuRules, BlameNobodyForTheRateThatNetbenchChoseItself) {
  RowBuilder row = overflowing(19'997);
  EXPECT_EQ(serious_classes_of(lab().row(row).build(), Scope::datagrams), "");
  row.asked("udp.rate", std::int64_t{1'000'000'000});
  EXPECT_EQ(serious_classes_of(lab().row(row).build(), Scope::datagrams), "K14");
}

TEST(CpuRules, TakeAFloodThatOverrunsTheReceiverForWhatItIs) {
  RowBuilder row = overflowing(19'997);
  row.effective("udp.rate", std::string("auto"));
  const Document document = lab().row(row).build();
  EXPECT_EQ(cpu_verdict("udp.receive-buffer", document).severity, Severity::info);
}

TEST(CpuRules, LeaveDatagramsAloneThatThePathLost) {
  EXPECT_EQ(cpu_verdict("udp.receive-buffer", lab().row(overflowing(12)).build()).outcome,
            Outcome::silent);
}

TEST(HealthyRows, MakeNothingWorseThanInformationOnABusyMachine) {
  const Signature rows[] = {
      {.mbps = 18'823,
       .srtt_us = 749,
       .min_us = 1,
       .busy = 0.81,
       .spurious = 57,
       .sender_blocked = 0.4,
       .receiver_blocked = 0.3,
       .sender_cpu = 0.34,
       .receiver_cpu = 0.31,
       .sender_wait = 0.26,
       .receiver_wait = 0.39},
      {.mbps = 6'235,
       .srtt_us = 605,
       .min_us = 8,
       .spurious = 822,
       .sender_blocked = 0.02,
       .receiver_blocked = 0.7,
       .sender_cpu = 0.95,
       .receiver_cpu = 0.26},
      {.mbps = 35'711,
       .srtt_us = 24,
       .min_us = 1,
       .busy = 0.6,
       .spurious = 20,
       .sender_blocked = 0.1,
       .receiver_blocked = 0.3,
       .sender_cpu = 0.55,
       .receiver_cpu = 0.4,
       .sender_wait = 0.35,
       .receiver_wait = 0.3},
      {.mbps = 1'692,
       .srtt_us = 3'196,
       .min_us = 1,
       .busy = 0.76,
       .spurious = 5'531,
       .sender_blocked = 0.4,
       .receiver_blocked = 0.6,
       .sender_cpu = 0.4,
       .receiver_cpu = 0.3},
      {.mbps = 22'830,
       .srtt_us = 211,
       .min_us = 5,
       .rwnd = 0.45,
       .spurious = 293,
       .sender_blocked = 0.4,
       .receiver_blocked = 0.5,
       .sender_cpu = 0.6,
       .receiver_cpu = 0.45,
       .congestion = "bbr"},
  };
  for (const Signature& signature : rows) {
    RowBuilder row = row_of(signature);
    row.sender({{"sock.sndbuf_bytes", 4'194'304}, {"tcp_info.notsent_bytes", 0}})
        .receiver({{"sock.rcvbuf_bytes", 6e6}})
        .round_rates({5.0e9, 7.9e9, 6.2e9, 5.9e9, 7.1e9});
    const Document document = lab().fact("host.container", std::string("docker")).row(row).build();
    EXPECT_EQ(serious_classes_of(document), "") << signature.mbps;
  }
}

// It was made with segmentation offload off on purpose; nothing else is wrong there.
TEST(HealthyRows, OfACommittedResultMakeNothingWorseButItsOffloads) {
  const auto document = read_document(NETBENCH_SAMPLES "/two-hosts.json");
  ASSERT_TRUE(document.has_value()) << document.error().message;
  std::string serious;
  for (const Finding& finding : diagnose(*document).findings) {
    serious += finding.severity == Severity::info ? "" : finding.class_id + " ";
  }
  EXPECT_EQ(serious, "L11 ");
}

}  // namespace
}  // namespace netbench::report
