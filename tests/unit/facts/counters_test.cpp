#include "bench/facts/counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/core/clock.hpp"
#include "tests/unit/facts/fake_network.hpp"

namespace netbench::facts {
namespace {

const std::string kData = NETBENCH_FACTS_TEST_DATA;

Snapshot recorded(const std::string& tree, NetworkReader* network = nullptr) {
  return take_snapshot({.root = kData + "/" + tree,
                        .interface = network == nullptr ? "" : "eth0",
                        .known_pids = {4711},
                        .nic_statistics = true,
                        .network = network});
}

bool mentions(const std::vector<std::string>& notes, const std::string& part) {
  return std::ranges::any_of(
      notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(CounterDelta, KeepsOnlyWhatMoved) {
  const auto change = delta(recorded("counters_before"), recorded("counters_after"));
  EXPECT_EQ(change.counters.at("snmp.Tcp.RetransSegs"), 7);
  EXPECT_EQ(change.counters.at("snmp.Tcp.OutSegs"), 4000);
  EXPECT_EQ(change.counters.at("netstat.TCPSpuriousRTOs"), 2);
  EXPECT_EQ(change.counters.at("netstat.IpExt.InOctets"), 4000000);
  EXPECT_EQ(change.counters.at("snmp6.Udp6RcvbufErrors"), 12);
  EXPECT_FALSE(change.counters.contains("netstat.TCPDSACKRecv"));
  EXPECT_FALSE(change.counters.contains("snmp.Udp.RcvbufErrors"));
}

TEST(CounterDelta, LeavesGaugesOut) {
  const auto change = delta(recorded("counters_before"), recorded("counters_after"));
  EXPECT_FALSE(change.counters.contains("snmp.Tcp.CurrEstab"));
}

TEST(CounterDelta, DropsACounterThatRanBackwardsAndSaysSo) {
  const auto change = delta(recorded("counters_before"), recorded("counters_after"));
  EXPECT_FALSE(change.counters.contains("snmp.Udp.NoPorts"));
  EXPECT_TRUE(mentions(change.notes, "snmp.Udp.NoPorts ran backwards (9 to 4)"));
  for (const auto& [name, value] : change.counters) {
    EXPECT_GT(value, 0) << name;
  }
}

TEST(CounterDelta, SumsSoftnetOverCpus) {
  const auto change = delta(recorded("counters_before"), recorded("counters_after"));
  EXPECT_EQ(change.counters.at("softnet.processed"), 50);
  EXPECT_EQ(change.counters.at("softnet.dropped"), 16);
  EXPECT_EQ(change.counters.at("softnet.time_squeeze"), 2);
  EXPECT_FALSE(change.counters.contains("softnet.flow_limit"));
}

TEST(CounterDelta, NamesTheBusyCpusOnly) {
  auto before = recorded("counters_before");
  auto after = recorded("counters_after");
  before.at_ns = 0;
  after.at_ns = 2'000'000'000;
  const auto change = delta(before, after);
  EXPECT_NEAR(change.counters.at("cpu.0.busy_s"), 1.91, 1e-9);
  EXPECT_NEAR(change.counters.at("cpu.0.softirq_s"), 0.38, 1e-9);
  EXPECT_FALSE(change.counters.contains("cpu.1.busy_s")) << "0.09 s of 2 s";
  EXPECT_NEAR(change.counters.at("cpu.steal_s"), 0.10, 1e-9);
  EXPECT_FALSE(change.counters.contains("cpu.iowait_s")) << "it ran backwards";
}

TEST(CounterDelta, TakesInterfaceAndNicCounters) {
  FakeNetwork network;
  LinkInfo link;
  link.name = "eth0";
  link.statistics = {{"rx_bytes", 1000}, {"rx_packets", 10}, {"rx_dropped", 0}};
  network.all_links = {link};
  network.ethtool = {{"driver", std::string("mlx5_core"), "", ""}};
  network.nic = {{"rx_discards_phy", 5}};
  const auto before = recorded("counters_before", &network);
  network.all_links[0].statistics = {{"rx_bytes", 2514}, {"rx_packets", 11}, {"rx_dropped", 0}};
  network.nic = {{"rx_discards_phy", 8}};
  const auto change = delta(before, recorded("counters_after", &network));
  EXPECT_EQ(change.counters.at("if.eth0.rx_bytes"), 1514);
  EXPECT_EQ(change.counters.at("if.eth0.rx_packets"), 1);
  EXPECT_FALSE(change.counters.contains("if.eth0.rx_dropped"));
  EXPECT_EQ(change.counters.at("ethtool.eth0.rx_discards_phy"), 3);
}

TEST(CounterDelta, NotesWhatCouldNotBeRead) {
  const auto snapshot = take_snapshot({.root = kData + "/nowhere",
                                       .interface = "eth0",
                                       .known_pids = {1},
                                       .nic_statistics = true,
                                       .network = nullptr});
  const auto change = delta(snapshot, snapshot);
  EXPECT_TRUE(change.counters.empty());
  EXPECT_TRUE(mentions(change.notes, "/proc/net/snmp"));
  EXPECT_TRUE(mentions(change.notes, "counters of eth0"));
  EXPECT_TRUE(mentions(change.notes, "/proc/1/stat"));
}

TEST(CpuUse, TakesOwnKnownAndSoftirqFromTheBusyTime) {
  auto before = recorded("counters_before");
  auto after = recorded("counters_after");
  before.own_cpu_s = 10.0;
  after.own_cpu_s = 10.25;
  const auto use = cpu_use(before, after);
  EXPECT_NEAR(use.busy_s, 2.00, 1e-9);  // 100 + 60 + 40 ticks
  EXPECT_NEAR(use.softirq_s, 0.40, 1e-9);
  EXPECT_NEAR(use.steal_s, 0.10, 1e-9);
  EXPECT_NEAR(use.own_s, 0.25, 1e-9);
  EXPECT_NEAR(use.known_s, 0.50, 1e-9);  // process 4711: 30 + 20 ticks
  EXPECT_NEAR(use.foreign_s, 0.85, 1e-9);
}

TEST(CpuUse, NeverCallsForeignTimeNegative) {
  auto before = recorded("counters_before");
  auto after = before;
  after.own_cpu_s = before.own_cpu_s + 5;
  EXPECT_EQ(cpu_use(before, after).foreign_s, 0);
}

TEST(CounterSampler, SeesTheWorkOfThisProcess) {
  auto sampler = CounterSampler::open({.root = "/",
                                       .interface = "lo",
                                       .known_pids = {},
                                       .nic_statistics = true,
                                       .network = nullptr});
  const auto before = sampler.take();
  const auto until = Deadline::after(std::chrono::milliseconds(200));
  while (!until.passed()) {
  }
  const auto after = sampler.take();
  const auto use = cpu_use(before, after);
  EXPECT_GT(use.own_s, 0.01);
  EXPECT_LE(use.own_s, use.elapsed_s * 1.05);
  EXPECT_TRUE(after.missing.empty()) << after.missing.front();
  EXPECT_FALSE(after.link.empty());
}

TEST(CounterSampler, IsCheapComparedWithOpeningEverythingAgain) {
  constexpr int kTimes = 50;
  const SnapshotOptions options{
      .root = "/", .interface = "lo", .known_pids = {}, .nic_statistics = true, .network = nullptr};
  auto sampler = CounterSampler::open(options);
  std::vector<std::int64_t> kept_ns;
  std::vector<std::int64_t> fresh_ns;
  for (int i = 0; i < kTimes; ++i) {
    const auto start_ns = monotonic_ns();
    const auto kept = sampler.take();
    const auto middle_ns = monotonic_ns();
    const auto fresh = take_snapshot(options);
    kept_ns.push_back(middle_ns - start_ns);
    fresh_ns.push_back(monotonic_ns() - middle_ns);
  }
  const auto kept = *std::ranges::min_element(kept_ns);
  RecordProperty("snapshot_us", std::to_string(kept / 1000));
  EXPECT_LT(kept, *std::ranges::min_element(fresh_ns));
}

}  // namespace
}  // namespace netbench::facts
