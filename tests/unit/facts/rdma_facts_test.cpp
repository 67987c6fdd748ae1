#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "bench/facts/collectors.hpp"
#include "bench/facts/rdma_counters.hpp"
#include "bench/facts/rdma_rails.hpp"
#include "bench/facts/sampling_row.hpp"

namespace netbench::facts {
namespace {

const std::string kTrees = NETBENCH_FACTS_TREES;

HostInfo host_of(const std::string& tree) {
  FactList facts(kTrees + "/rdma-" + tree);
  collect_rdma(facts);
  HostInfo host;
  host.facts = facts.take();
  return host;
}

struct Shown {
  const char* tree;
  const char* key;
  Value value;
};

std::ostream& operator<<(std::ostream& out, const Shown& shown) {
  return out << shown.tree << ": " << shown.key;
}

Value text(const char* value) { return std::string(value); }
Value number(std::int64_t value) { return value; }

const std::array kShown{
    Shown{"mlx5-roce", "rdma.devices", number(1)},
    Shown{"mlx5-roce", "rdma.memlock_bytes", number(8388608)},
    Shown{"mlx5-roce", "rdma.cap_ipc_lock", false},
    Shown{"mlx5-roce", "rdma.mlx5_0.driver", text("mlx5")},
    Shown{"mlx5-roce", "rdma.mlx5_0.software", false},
    Shown{"mlx5-roce", "rdma.mlx5_0.interface", text("eth0")},
    Shown{"mlx5-roce", "rdma.mlx5_0.interface_mtu_bytes", number(9000)},
    Shown{"mlx5-roce", "rdma.mlx5_0.state", text("ACTIVE")},
    Shown{"mlx5-roce", "rdma.mlx5_0.phys_state", text("LinkUp")},
    Shown{"mlx5-roce", "rdma.mlx5_0.link_layer", text("Ethernet")},
    Shown{"mlx5-roce", "rdma.mlx5_0.rate_bps", 200e9},
    Shown{"mlx5-roce", "rdma.mlx5_0.lanes", text("4X HDR")},
    Shown{"mlx5-roce", "rdma.mlx5_0.firmware", text("20.39.1002")},
    Shown{"mlx5-roce", "rdma.mlx5_0.board", text("MT_0000000224")},
    Shown{"mlx5-roce", "rdma.mlx5_0.pkey", number(0xffff)},
    Shown{"mlx5-roce", "rdma.mlx5_0.gid.3.address", text("::ffff:192.168.1.100")},
    Shown{"mlx5-roce", "rdma.mlx5_0.gid.3.type", text("RoCE v2")},
    Shown{"mlx5-roce", "rdma.mlx5_0.gid.3.interface", text("eth0")},
    Shown{"mlx5-roce", "rdma.mlx5_0.device_node", text("/dev/infiniband/uverbs0")},
    Shown{"mlx5-roce", "rdma.mlx5_0.access", text("allowed")},
    Shown{"mlx5-roce", "rdma.mlx5_0.trust", text("dscp")},
    Shown{"mlx5-roce", "rdma.mlx5_0.traffic_class", number(106)},
    Shown{"mlx5-roce", "rdma.mlx5_0.roce_mode", text("RoCE v2")},
    Shown{"mlx5-roce", "rdma.mlx5_0.cm_tos", number(106)},
    Shown{"mlx5-roce", "rdma.mlx5_0.numa_node", number(1)},
    Shown{"mlx5-roce", "rdma.mlx5_0.iommu_group_type", text("identity")},
    Shown{"mlx5-roce", "rdma.mlx5_0.pcie.path", text("0000:40:01.1 > 0000:41:00.0")},
    Shown{"mlx5-roce", "rdma.mlx5_0.pcie.width_lanes", number(16)},
    Shown{"mlx5-roce", "rdma.mlx5_0.bridge.0000:40:01.1.speed_gts", 16.0},
    Shown{"mlx5-ib", "rdma.mlx5_0.link_layer", text("InfiniBand")},
    Shown{"mlx5-ib", "rdma.mlx5_0.sm_lid", number(1)},
    Shown{"mlx5-ib", "rdma.mlx5_1.state", text("INIT")},
    Shown{"mlx5-ib", "rdma.mlx5_1.sm_lid", number(0)},
    Shown{"mlx5-ib", "rdma.mlx5_1.lid", number(65535)},
    Shown{"mlx5-ib", "rdma.mlx5_1.lanes", text("1X NDR")},
    Shown{"mlx5-ib", "rdma.mlx5_1.access", text("no device node")},
    Shown{"mlx5-ib", "rdma.mlx5_1.pcie.width_lanes", number(8)},
    Shown{"two-ports", "rdma.devices", number(2)},
    Shown{"two-ports", "rdma.mlx4_0:1.driver", text("mlx4")},
    Shown{"two-ports", "rdma.mlx4_0:1.interface", text("ens1")},
    Shown{"two-ports", "rdma.mlx4_0:2.interface", text("ens1d1")},
    Shown{"two-ports", "rdma.mlx4_0:2.phys_state", text("Disabled")},
    Shown{"bnxt", "rdma.bnxt_re0.driver", text("bnxt_re")},
    Shown{"bnxt", "rdma.bnxt_re0.gid.0.address", text("fe80::5e6f:69ff:fe00:10")},
    Shown{"bnxt", "rdma.bnxt_re0.gid.3.type", text("RoCE v2")},
    Shown{"irdma", "rdma.irdma0.driver", text("irdma")},
    Shown{"irdma", "rdma.irdma0.lid", number(1)},
    Shown{"efa", "rdma.rdmap16s27.driver", text("efa")},
    Shown{"efa", "rdma.rdmap16s27.link_layer", text("Unspecified")},
    Shown{"mana", "rdma.mana_0.driver", text("mana")},
    Shown{"rxe", "rdma.rxe0.driver", text("rxe")},
    Shown{"rxe", "rdma.rxe0.software", true},
    Shown{"rxe", "rdma.rxe0.interface", text("eth0")},
    Shown{"siw", "rdma.siw0.driver", text("siw")},
    Shown{"siw", "rdma.siw0.software", true},
    Shown{"siw", "rdma.siw0.interface", text("eth1")},
    Shown{"container", "rdma.mlx5_0.access", text("no device node")},
    Shown{"host", "rdma.devices", number(0)},
};

class RdmaMachine : public testing::TestWithParam<Shown> {};

TEST_P(RdmaMachine, Shows) {
  const HostInfo host = host_of(GetParam().tree);
  const Fact* fact = find_fact(host, GetParam().key);
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->value, GetParam().value) << fact->unknown_because;
  EXPECT_FALSE(fact->source.empty());
}

INSTANTIATE_TEST_SUITE_P(Trees, RdmaMachine, testing::ValuesIn(kShown));

TEST(RdmaFacts, LeaveOutGidsThatAreNotInUse) {
  EXPECT_EQ(find_fact(host_of("mlx5-roce"), "rdma.mlx5_0.gid.4.address"), nullptr);
}

TEST(RdmaFacts, SayWhyAFactIsUnknown) {
  for (const auto& [tree, key, why] :
       {std::tuple("container", "rdma.mlx5_0.device_node", "uverbs0"),
        std::tuple("efa", "rdma.rdmap16s27.interface", "interface"),
        std::tuple("siw", "rdma.siw0.counter_names", "counts"),
        std::tuple("rxe", "rdma.rxe0.pfc_mask", "kernel")}) {
    const HostInfo host = host_of(tree);
    const Fact* fact = find_fact(host, key);
    ASSERT_NE(fact, nullptr) << key;
    EXPECT_EQ(fact->value, Value{}) << key;
    EXPECT_NE(fact->unknown_because.find(why), std::string::npos) << fact->unknown_because;
  }
}

TEST(RdmaFacts, NameTheCountersOfADriverWithoutTheirLifespan) {
  const HostInfo host = host_of("rxe");
  const Fact* fact = find_fact(host, "rdma.rxe0.counter_names");
  ASSERT_NE(fact, nullptr);
  const auto names = std::get<std::string>(fact->value);
  EXPECT_NE(names.find("out_of_seq_request"), std::string::npos);
  EXPECT_EQ(names.find("lifespan"), std::string::npos);
}

TEST(RdmaRails, AreNamedAfterThePortOnlyWhereADeviceHasSeveral) {
  const auto rails = rdma_rails(kTrees + "/rdma-two-ports");
  ASSERT_EQ(rails.size(), 2U);
  EXPECT_EQ(rails[1].name, "mlx4_0:2");
  EXPECT_EQ(rails[1].port_folder(), "/sys/class/infiniband/mlx4_0/ports/2");
  EXPECT_EQ(rdma_rails(kTrees + "/rdma-rxe").at(0).name, "rxe0");
}

TEST(RdmaCounters, ReadBothGroupsOfEveryRail) {
  RdmaCounterReader reader(kTrees + "/rdma-mlx5-roce");
  const RdmaCounts counts = reader.take();
  EXPECT_TRUE(counts.counts.contains("rdma.mlx5_0.port_xmit_data"));
  EXPECT_TRUE(counts.counts.contains("rdma.mlx5_0.local_ack_timeout_err"));
  EXPECT_FALSE(counts.counts.contains("rdma.mlx5_0.lifespan"));
  EXPECT_TRUE(counts.missing.empty());
}

TEST(RdmaCounters, AreNoneWithoutADevice) {
  RdmaCounterReader reader(kTrees + "/rdma-host");
  EXPECT_TRUE(reader.take().counts.empty());
}

TEST(RdmaCounters, LeaveOutGauges) {
  RdmaCounterReader reader(kTrees + "/rdma-mana");
  const RdmaCounts counts = reader.take();
  EXPECT_FALSE(counts.counts.contains("rdma.mana_0.current_rate"));
  EXPECT_TRUE(counts.counts.contains("rdma.mana_0.requester_timeout"));
}

TEST(RdmaCounters, WaitUntilTheKernelReadsTheHardwareAgain) {
  RdmaCounterReader reader(kTrees + "/rdma-mlx5-roce");
  static_cast<void>(reader.take());
  const std::int64_t begin_ns = monotonic_ns();
  static_cast<void>(reader.take());
  EXPECT_GE(monotonic_ns() - begin_ns, 9'000'000);
}

TEST(RdmaCounters, GiveTheDifferenceOfWhatMoved) {
  const RdmaCounts before{{{"rdma.a.rcvd_seq_err", 3}, {"rdma.a.sent_pkts", 10}}, {}};
  const RdmaCounts after{{{"rdma.a.rcvd_seq_err", 3}, {"rdma.a.sent_pkts", 25}}, {}};
  const CounterDelta delta = rdma_delta(before, after);
  EXPECT_EQ(delta.counters, (Counters{{"rdma.a.sent_pkts", 15}}));
  EXPECT_TRUE(delta.notes.empty());
}

TEST(RdmaCounters, DropWhatRanBackwardsOrStandsAtItsMaximum) {
  const RdmaCounts before{{{"rdma.a.packet_seq_err", 9}, {"rdma.a.symbol_error", 65000}}, {}};
  const RdmaCounts after{{{"rdma.a.packet_seq_err", 2}, {"rdma.a.symbol_error", 65535}}, {}};
  const CounterDelta delta = rdma_delta(before, after);
  EXPECT_TRUE(delta.counters.empty());
  EXPECT_EQ(delta.notes.size(), 2U);
}

TEST(RdmaCounters, SayWhichFileWentAwayWithItsDevice) {
  const std::filesystem::path copy = testing::TempDir() + "/rdma-gone";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(
      kTrees + "/rdma-rxe", copy,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  RdmaCounterReader reader(copy.string());
  const RdmaCounts before = reader.take();
  std::filesystem::remove_all(copy / "sys/class/infiniband/rxe0");
  const CounterDelta delta = rdma_delta(before, reader.take());
  EXPECT_TRUE(delta.counters.empty());
  EXPECT_FALSE(delta.notes.empty());
}

TEST(RdmaCounters, StandBesideTheOtherCountersOfARow) {
  const std::filesystem::path copy = testing::TempDir() + "/rdma-row";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(
      kTrees + "/rdma-rxe", copy,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  RowSamplerOptions options;
  options.root = copy.string();
  RowSampler sampler(std::move(options));
  sampler.begin();
  std::ofstream(copy / "sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts") << "1300\n";
  const CounterDelta delta = sampler.end();
  ASSERT_TRUE(delta.counters.contains("rdma.rxe0.sent_pkts"));
  EXPECT_EQ(delta.counters.at("rdma.rxe0.sent_pkts"), 100);
}

}  // namespace
}  // namespace netbench::facts
