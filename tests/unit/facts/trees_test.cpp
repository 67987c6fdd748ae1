#include <gtest/gtest.h>

#include <array>
#include <ostream>

#include "bench/core/clock.hpp"
#include "bench/facts/host_facts.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {
namespace {

const std::string kTrees = NETBENCH_FACTS_TREES;

HostInfo machine(const std::string& tree, const std::string& peer = "192.168.1.101") {
  return collect_host({.root = kTrees + "/" + tree, .peer_address = peer, .peer_name = "gpu02"});
}

/// What one recorded machine shows, with the peer that its tested interface leads to.
struct Shown {
  const char* tree;
  const char* key;
  Value value;
  const char* peer = "192.168.1.101";
};

std::ostream& operator<<(std::ostream& out, const Shown& shown) {
  return out << shown.tree << ": " << shown.key;
}

Value text(const char* value) { return std::string(value); }
Value number(std::int64_t value) { return value; }
constexpr const char* kManagement = "10.0.0.101";

const std::array kShown{
    Shown{"server", "host.name", text("gpu01")},
    Shown{"server", "if.eth0.speed_max_bps", number(100'000'000'000)},
    Shown{"server", "if.eth0.numa_node", number(1)},
    Shown{"server", "if.eth0.local_cpus", text("8-15")},
    Shown{"server", "if.eth0.iommu_group_type", text("identity")},
    Shown{"server", "if.eth0.pcie.path", text("0000:40:01.1 > 0000:41:00.0")},
    Shown{"server", "if.eth0.pcie.max_payload_bytes", number(512)},
    Shown{"server", "if.eth0.pcie.max_read_request_bytes", number(4096)},
    Shown{"server", "if.eth0.pcie.relaxed_ordering", true},
    Shown{"server", "pcie.0000:40:01.1.port_kind", text("root port")},
    Shown{"server", "pcie.0000:40:01.1.width", number(16)},
    Shown{"server", "pcie.0000:40:01.1.error_reporting", true},
    Shown{"server", "pcie.0000:40:01.1.acs_redirects", false},
    Shown{"server", "if.eth0.irq.count", number(4)},
    Shown{"server", "if.eth0.irq.cpus", text("8-11")},
    Shown{"server", "if.eth0.irq.far_cpus", text("none")},
    Shown{"server", "if.eth0.rps.cpus", text("none")},
    Shown{"server", "if.eth0.xps.cpus", text("8-9")},
    Shown{"server", "if.eth0.fec.active", text("rs")},
    Shown{"server", "if.eth0.module.kind", text("QSFP28")},
    Shown{"server", "if.eth0.module.vendor", text("EXAMPLE OPTICS")},
    Shown{"server", "if.eth0.module.rx_power_dbm", -1.0},
    Shown{"server", "if.eth0.module.rx_power_min_dbm", -12.3},
    Shown{"server", "if.eth0.module.temperature_c", 41.5},
    Shown{"server", "if.eth0.module.temperature_max_c", 75.0},
    Shown{"server", "cpu.governor", text("performance")},
    Shown{"server", "cpu.frequency_max_hz", 3.7e9},
    Shown{"server", "cpu.frequency_cur_hz", 3.5e9},
    Shown{"server", "cpu.cstate_deepest_latency_us", number(2)},
    Shown{"server", "cpu.turbo", true},
    Shown{"server", "kernel.cmdline_iommu", text("iommu=pt")},
    Shown{"server", "security.selinux", text("off")},
    Shown{"server", "security.apparmor", text("unconfined")},
    Shown{"server", "firewall.input_policy", text("accept")},
    Shown{"server", "path.prefix_length", number(24)},
    Shown{"server", "path.same_subnet", true},
    Shown{"server", "neighbour.state", text("reachable")},
    Shown{"server", "name.peer_resolves_to", text("192.168.1.101")},
    Shown{"server", "name.peer_is_tested_address", true},
    Shown{"server", "nvidia.driver", text("550.54.15")},
    Shown{"server", "nvidia.kernel_module", text("open")},
    Shown{"server", "nvidia.peermem", true},
    Shown{"server", "cuda.version", text("12.4.1")},
    Shown{"server", "nccl.version", text("2.21.5")},
    Shown{"server", "ofed.version", text("24.01-0.3.3")},
    Shown{"server", "nfs.mounts_on_interface", number(0)},
    Shown{"server", "qdisc.eth0.kind", text("mq")},
    Shown{"server", "qdisc.eth0.children", text("2 fq")},
    Shown{"peer", "host.name", text("gpu02"), "192.168.1.100"},
    Shown{"narrow-slot", "if.eth0.pcie.width_lanes", number(8)},
    Shown{"narrow-slot", "if.eth0.pcie.max_width_lanes", number(16)},
    Shown{"narrow-slot", "if.eth0.pcie.speed_gtps", 8.0},
    Shown{"narrow-bridge", "if.eth0.pcie.width_lanes", number(16)},
    Shown{"narrow-bridge", "pcie.0000:41:00.0.width", number(4)},
    Shown{"narrow-bridge", "pcie.0000:41:00.0.max_width", number(16)},
    Shown{"far-node", "if.eth0.irq.far_cpus", text("0-3")},
    Shown{"far-node", "process.cpus_allowed", text("0-7")},
    Shown{"one-irq-core", "if.eth0.irq.cpu_count", number(1)},
    Shown{"steered", "if.eth0.rps.cpus", text("8-11")},
    Shown{"pause", "if.eth0.pause.rx", number(1)},
    Shown{"fec-off", "if.eth0.fec.active", text("off")},
    Shown{"slow-link", "if.eth0.speed_bps", number(25'000'000'000)},
    Shown{"bad-pair", "if.eno1.downshift", true, kManagement},
    Shown{"bad-pair", "if.eno1.speed_negotiable_bps", number(1'000'000'000), kManagement},
    Shown{"half-duplex", "if.eno1.duplex", text("half"), kManagement},
    Shown{"eee", "if.eno1.eee.enabled", true, kManagement},
    Shown{"flapping", "if.eth0.carrier_changes", number(214)},
    Shown{"small-ring", "if.eth0.ring.rx_descriptors", number(256)},
    Shown{"no-offloads", "if.eth0.offload.tso", false},
    Shown{"shaped", "qdisc.eth0.kind", text("tbf")},
    Shown{"shaped", "qdisc.eth0.rate_bps", 1e9},
    Shown{"powersave", "cpu.governor", text("powersave")},
    Shown{"powersave", "cpu.frequency_cur_hz", 1.2e9},
    Shown{"deep-sleep", "cpu.cstate_deepest_latency_us", number(133)},
    Shown{"deep-sleep", "cpu.cstate_deepest", text("C6")},
    Shown{"aspm", "pcie.aspm_policy", text("powersave")},
    Shown{"small-payload", "if.eth0.pcie.max_payload_bytes", number(128)},
    Shown{"small-payload", "if.eth0.pcie.max_read_request_bytes", number(512)},
    Shown{"iommu", "if.eth0.iommu_group_type", text("DMA-FQ")},
    Shown{"iommu", "kernel.cmdline_iommu", text("intel_iommu=on")},
    Shown{"iommu", "iommu.units", number(1)},
    Shown{"acs", "pcie.0000:40:01.1.acs_redirects", true},
    Shown{"quota", "cgroup.cpu_max", text("200000 100000")},
    Shown{"quota", "cgroup.cpu_limit_cpus", 2.0},
    Shown{"quota", "host.container", text("kubepods")},
    Shown{"virtual", "host.virtual_machine", true},
    Shown{"virtual", "if.eth0.channels.combined", number(1)},
    Shown{"firewall", "firewall.input_policy", text("drop")},
    Shown{"firewall", "firewall.input_refuses", true},
    Shown{"firewall", "firewall.output_policy", text("accept")},
    Shown{"firewall", "conntrack.count", number(262100)},
    Shown{"wrong-mask", "path.prefix_length", number(32)},
    Shown{"wrong-mask", "path.same_subnet", false},
    Shown{"wrong-mask", "neighbour.address", text("192.168.1.1")},
    Shown{"wrong-name", "name.peer_resolves_to", text("10.0.0.101")},
    Shown{"wrong-name", "name.peer_is_tested_address", false},
    Shown{"wrong-name", "name.peer_interface", text("eno1")},
    Shown{"nfs", "nfs.mounts_on_interface", number(2)},
    Shown{"nfs", "nfs.servers_on_interface", text("192.168.1.102")},
    Shown{"dark-optics", "if.eth0.module.rx_power_dbm", -17.19},
    Shown{"lldp", "if.eth0.lldp.system", text("leaf-4a")},
    Shown{"lldp", "if.eth0.lldp.port", text("Ethernet1/17")},
    Shown{"lldp", "if.eth0.lldp.max_frame_bytes", number(1522)},
    Shown{"bond", "if.bond0.100.stack", text("bond0.100 > bond0 > eth0,eth1")},
    Shown{"bond", "if.bond0.100.vlan_id", number(100)},
    Shown{"bond", "if.bond0.100.lower.0", text("bond0")},
    Shown{"bond", "if.eth1.master", text("bond0")},
    Shown{"bond", "bond.bond0.mode", text("802.3ad")},
    Shown{"bond", "bond.bond0.members", text("eth0,eth1")},
    Shown{"bond", "bond.bond0.eth1.speed_bps", number(100'000'000'000)},
    Shown{"bond-member-down", "bond.bond0.eth1.mii_up", false},
    Shown{"bond-member-down", "bond.bond0.eth1.link_failures", number(7)},
    Shown{"bond-member-down", "if.eth1.down_because", text("no cable")},
    Shown{"bond-two-aggregators", "bond.bond0.eth1.aggregator_id", number(2)},
    Shown{"bond-no-partner", "bond.bond0.partner_mac", text("00:00:00:00:00:00")},
    Shown{"bond-layer2", "bond.bond0.xmit_hash_policy", text("layer2")},
    Shown{"bond-round-robin", "bond.bond0.mode", text("balance-rr")},
    Shown{"overlay", "if.vxlan7.tunnel_overhead_bytes", number(50), "172.16.7.2"},
    Shown{"overlay", "if.vxlan7.stack", text("vxlan7 > eth0"), "172.16.7.2"},
    Shown{"overlay", "if.eth0.mtu_bytes", number(9000), "172.16.7.2"},
    Shown{"container", "host.container", text("docker")},
    Shown{"container", "if.eth0.kind", text("veth")},
    Shown{"untuned", "sysctl.net.ipv4.tcp_rmem_max_bytes", number(6291456)},
    Shown{"small-mtu", "if.eth0.mtu_bytes", number(1500)},
    Shown{"older", "nccl.version", text("2.18.3")},
    Shown{"older", "nvidia.kernel_module", text("proprietary")},
};

class RecordedMachine : public testing::TestWithParam<Shown> {};

TEST_P(RecordedMachine, ShowsWhatItWasMadeFor) {
  const auto& shown = GetParam();
  const HostInfo host = machine(shown.tree, shown.peer);
  const Fact* fact = find_fact(host, shown.key);
  ASSERT_NE(fact, nullptr) << shown.key;
  EXPECT_EQ(fact->value, shown.value) << fact->unknown_because;
}

INSTANTIATE_TEST_SUITE_P(Facts, RecordedMachine, testing::ValuesIn(kShown));

TEST(RecordedMachines, AreCompleteHostsWithAReasonForEveryUnknownFact) {
  const auto trees = list_directory("/", kTrees);
  EXPECT_GE(trees.size(), 40U);
  for (const auto& tree : trees) {
    const HostInfo host = machine(tree);
    EXPECT_FALSE(host.name.empty() || host.boot_id.empty() || host.interface.empty()) << tree;
    EXPECT_GT(host.facts.size(), 120U) << tree;
    for (const auto& fact : host.facts) {
      EXPECT_EQ(fact.value == Value{}, !fact.unknown_because.empty()) << tree << ": " << fact.key;
      EXPECT_FALSE(fact.source.empty()) << tree << ": " << fact.key;
      EXPECT_EQ(find_fact(host, fact.key), &fact) << tree << ": " << fact.key << " stands twice";
    }
  }
}

TEST(RecordedMachines, WithoutTheKernelsAnswersSayThatTheyHaveNone) {
  const HostInfo host = collect_host(
      {.root = std::string(NETBENCH_FACTS_TEST_DATA) + "/server", .peer_address = "192.168.1.101"});
  const Fact* fact = find_fact(host, "path.interface");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->unknown_because, "a recorded tree has no kernel to ask");
}

TEST(RecordedMachines, ShowEveryInterfaceWithHardwareWhenNoPeerIsNamed) {
  const HostInfo host = collect_host({.root = kTrees + "/bond", .every_interface = true});
  EXPECT_EQ(host.interface, "eno1") << "the default route's comes first";
  for (const char* key : {"if.eno1.mtu_bytes", "if.eth0.mtu_bytes", "if.eth1.mtu_bytes",
                          "if.bond0.mtu_bytes", "bond.bond0.mode"}) {
    EXPECT_NE(find_fact(host, key), nullptr) << key;
  }
  EXPECT_EQ(find_fact(host, "if.lo.mtu_bytes"), nullptr);
}

TEST(RecordedMachines, AreReadInUnderASecond) {
  const auto start_ns = monotonic_ns();
  const HostInfo host = machine("bond-member-down");
  EXPECT_LT(monotonic_ns() - start_ns, 1'000'000'000) << host.facts.size() << " facts";
}

}  // namespace
}  // namespace netbench::facts
