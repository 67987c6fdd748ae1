#include "bench/facts/host_facts.hpp"

#include <gtest/gtest.h>

#include "bench/core/clock.hpp"
#include "tests/unit/facts/fake_network.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

const std::string kData = NETBENCH_FACTS_TEST_DATA;

Value value_of(const HostInfo& host, const std::string& key) {
  const Fact* fact = find_fact(host, key);
  if (fact == nullptr) {
    ADD_FAILURE() << "no fact " << key;
    return {};
  }
  return fact->value;
}

Value text(const char* value) { return std::string(value); }
Value number(std::int64_t value) { return value; }

std::string why_unknown(const HostInfo& host, const std::string& key) {
  const Fact* fact = find_fact(host, key);
  if (fact == nullptr || fact->value != Value{}) {
    ADD_FAILURE() << key << " is not an unknown fact";
    return {};
  }
  return fact->unknown_because;
}

HostInfo collect(const std::string& tree, FakeNetwork& network) {
  return collect_host({.root = kData + "/" + tree,
                       .local_address = "192.168.1.100",
                       .peer_address = "192.168.1.101",
                       .interface = "",
                       .network = &network});
}

struct ServerNetwork : FakeNetwork {
  ServerNetwork();
};

ServerNetwork::ServerNetwork() {
  LinkInfo link;
  link.name = "eth0";
  link.index = 7;
  link.mtu_bytes = 9000;
  link.min_mtu_bytes = 68;
  link.admin_up = true;
  link.carrier = true;
  link.qdisc = "mq";
  all_links = {link};
  route = {.interface_index = 7,
           .interface = "eth0",
           .source_address = "192.168.1.100",
           .gateway = "",
           .mtu_bytes = 0};
  all_addresses = {
      {7, "192.168.1.100", 24, false}, {7, "fe80::1", 64, true}, {8, "10.0.0.1", 8, false}};
  ethtool = {{"driver", std::string("mlx5_core"), "ioctl", ""},
             {"speed_bps", std::int64_t{100'000'000'000}, "ioctl", ""},
             {"offload.tso", true, "ioctl", ""}};
}

TEST(HostFacts, NamesTheHostItsKernelAndItsBoot) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(host.name, "gpu01");
  EXPECT_EQ(host.boot_id, "0b5b1a5e-0000-4000-8000-00000000abcd");
  EXPECT_EQ(value_of(host, "kernel.release"), text("5.15.0-91-generic"));
  EXPECT_EQ(value_of(host, "os.name"), text("Ubuntu 22.04.4 LTS"));
  EXPECT_EQ(value_of(host, "host.product"), text("GPU Server 8"));
  EXPECT_EQ(value_of(host, "host.container"), text("none seen"));
  EXPECT_EQ(value_of(host, "cgroup.cpu_max"), text("50000 100000"));
  EXPECT_EQ(value_of(host, "memory.total_bytes"), number(1'056'000'000LL * 1024));
}

TEST(HostFacts, CountsCpusCoresAndNodes) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "cpu.model"), text("Example CPU 8400 @ 2.00GHz"));
  EXPECT_EQ(value_of(host, "cpu.logical_count"), number(4));
  EXPECT_EQ(value_of(host, "cpu.core_count"), number(2));
  EXPECT_EQ(value_of(host, "cpu.online_count"), number(4));
  EXPECT_EQ(value_of(host, "numa.node_count"), number(2));
  EXPECT_EQ(value_of(host, "host.virtual_machine"), Value(false));
}

TEST(HostFacts, ShowsEveryGovernorAndTheSpreadOfTheClocks) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "cpu.governor"), text("performance,powersave"));
  EXPECT_EQ(value_of(host, "cpu.frequency_cur_low_hz"), Value(800e6));
  EXPECT_EQ(value_of(host, "cpu.frequency_cur_hz"), Value(3800.5e6));
}

TEST(HostFacts, ReadsAnArmHostWithoutModelNameOrClockInCpuinfo) {
  FakeNetwork network;
  const auto host = collect("arm", network);
  EXPECT_EQ(value_of(host, "cpu.model"), text("implementer 0x41, part 0xd40"));
  EXPECT_EQ(value_of(host, "cpu.frequency_cur_hz"), Value(2.3e9)) << "four CPUs are read at most";
  EXPECT_NE(why_unknown(host, "host.virtual_machine"), "");
  EXPECT_EQ(value_of(host, "host.container"), text("kubepods"));
  EXPECT_EQ(why_unknown(host, "cgroup.cpu_max"), "in no control group that limits the CPU");
}

TEST(HostFacts, SplitsTheThreeNumbersOfTcpBuffers) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "sysctl.net.ipv4.tcp_rmem_min_bytes"), number(4096));
  EXPECT_EQ(value_of(host, "sysctl.net.ipv4.tcp_rmem_max_bytes"), number(6291456));
  EXPECT_EQ(find_fact(host, "sysctl.net.ipv4.tcp_rmem_max_bytes")->source,
            "/proc/sys/net/ipv4/tcp_rmem");
  EXPECT_EQ(value_of(host, "sysctl.net.core.rmem_max_bytes"), number(212992));
  EXPECT_EQ(value_of(host, "sysctl.net.ipv4.tcp_available_congestion_control"),
            text("reno cubic bbr"));
}

TEST(HostFacts, SaysWhyAFactIsUnknown) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_NE(why_unknown(host, "sysctl.net.ipv4.tcp_sack").find("No such file"), std::string::npos);
  EXPECT_NE(why_unknown(host, "sysctl.net.ipv4.tcp_mtu_probing").find("\"off\""),
            std::string::npos);
  EXPECT_NE(why_unknown(host, "sysctl.net.ipv4.tcp_wmem_max_bytes").find("three numbers"),
            std::string::npos);
  for (const auto& fact : host.facts) {
    EXPECT_EQ(fact.value == Value{}, !fact.unknown_because.empty()) << fact.key;
    EXPECT_FALSE(fact.source.empty()) << fact.key;
  }
}

TEST(HostFacts, FollowsTheRouteToTheInterface) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(host.interface, "eth0");
  EXPECT_EQ(host.addresses, (std::vector<std::string>{"192.168.1.100", "fe80::1"}));
  EXPECT_EQ(value_of(host, "path.same_subnet"), Value(true));
  EXPECT_EQ(value_of(host, "if.eth0.mtu_bytes"), number(9000));
  EXPECT_EQ(value_of(host, "if.eth0.qdisc"), text("mq"));
  EXPECT_EQ(value_of(host, "if.eth0.speed_bps"), number(100'000'000'000));
  EXPECT_EQ(why_unknown(host, "if.eth0.max_mtu_bytes"), "the driver names no limit");
}

TEST(HostFacts, SeesAnotherSubnet) {
  ServerNetwork network;
  network.all_addresses = {{7, "192.168.1.100", 32, false}};
  network.route.gateway = "192.168.1.1";
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "path.same_subnet"), Value(false));
  EXPECT_EQ(value_of(host, "path.gateway"), text("192.168.1.1"));
}

TEST(HostFacts, SeesThatARouteLeadsPastTheSubnetOfThePeer) {
  ServerNetwork network;
  LinkInfo other;
  other.index = 9;
  other.name = "eth1";
  network.all_links.push_back(other);
  network.all_addresses = {{7, "192.168.2.100", 24, false}, {9, "192.168.1.100", 24, false}};
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "path.same_subnet"), Value(false));
  EXPECT_EQ(value_of(host, "path.subnet_interface"), text("eth1"));
}

TEST(HostFacts, ReadsThePcieSlotOfTheNic) {
  ServerNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(value_of(host, "if.eth0.pcie.speed_gtps"), Value(8.0));
  EXPECT_EQ(value_of(host, "if.eth0.pcie.max_speed_gtps"), Value(16.0));
  EXPECT_EQ(value_of(host, "if.eth0.pcie.width_lanes"), number(8));
  EXPECT_EQ(value_of(host, "if.eth0.pcie.max_width_lanes"), number(16));
  EXPECT_NE(why_unknown(host, "if.eth0.numa_node").find("-1"), std::string::npos);
}

TEST(HostFacts, DistrustsSysfsOfAnotherNetworkNamespace) {
  ServerNetwork network;
  network.all_links[0].index = 3;
  const auto host = collect("server", network);
  EXPECT_NE(why_unknown(host, "if.eth0.pcie").find("another network namespace"), std::string::npos);
}

TEST(HostFacts, CallsTheSpeedOfVirtualDriversUnknown) {
  for (const std::string driver : {"veth", "virtio_net", "tun", "bridge"}) {
    ServerNetwork network;
    network.ethtool[0].value = driver;
    const auto host = collect("server", network);
    EXPECT_NE(why_unknown(host, "if.eth0.speed_bps"), "") << driver;
    EXPECT_EQ(value_of(host, "if.eth0.offload.tso"), Value(true)) << driver;
  }
}

TEST(HostFacts, CallsTheSpeedOfAVlanOnAVirtualDeviceUnknown) {
  ServerNetwork network;
  network.all_links[0].kind = "veth";
  LinkInfo vlan = network.all_links[0];
  vlan.name = "eth0.5";
  vlan.index = 9;
  vlan.kind = "vlan";
  vlan.lower_index = 7;
  network.all_links.push_back(vlan);
  network.route.interface = "eth0.5";
  network.ethtool[0].value = std::string("802.1Q VLAN Support");
  const auto host = collect("server", network);
  EXPECT_EQ(host.interface, "eth0.5");
  EXPECT_EQ(value_of(host, "if.eth0.5.on_device"), text("eth0"));
  EXPECT_NE(why_unknown(host, "if.eth0.5.speed_bps").find("veth"), std::string::npos);
}

TEST(HostFacts, KeepsTheRestWhenThereIsNoRoute) {
  FakeNetwork network;
  const auto host = collect("server", network);
  EXPECT_EQ(host.interface, "");
  EXPECT_NE(why_unknown(host, "path.interface").find("no route to 192.168.1.101"),
            std::string::npos);
  EXPECT_EQ(host.name, "gpu01");
}

TEST(HostFacts, OfThisHostTakeUnderTwoHundredMilliseconds) {
  const auto start_ns = monotonic_ns();
  const auto host = collect_host({.root = "/",
                                  .local_address = "",
                                  .peer_address = "127.0.0.1",
                                  .interface = "",
                                  .network = nullptr});
  const auto taken_ns = monotonic_ns() - start_ns;
  RecordProperty("collect_us", std::to_string(taken_ns / 1000));
  EXPECT_LT(taken_ns, 200'000'000);
  EXPECT_EQ(host.interface, "lo");
  EXPECT_NE(why_unknown(host, "if.lo.speed_bps"), "");
  EXPECT_EQ(host.boot_id.size(), 36U);
}

TEST(HostFacts, OfAVethPairAreTheKernelsOwn) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace here;
  const Namespace there;
  here.run("ip link add va0 mtu 4000 type veth peer name vb0 netns " + there.path());
  here.run("ip addr add 10.9.0.1/24 dev va0 && ip link set va0 up");
  there.run("ip addr add 10.9.0.2/24 dev vb0 && ip link set vb0 up");
  const Namespace::Stay stay(here);
  const auto host = collect_host({.root = "/",
                                  .local_address = "10.9.0.1",
                                  .peer_address = "10.9.0.2",
                                  .interface = "",
                                  .network = nullptr});
  EXPECT_EQ(host.interface, "va0");
  EXPECT_EQ(value_of(host, "if.va0.mtu_bytes"), number(4000));
  EXPECT_EQ(value_of(host, "if.va0.kind"), text("veth"));
  EXPECT_EQ(value_of(host, "if.va0.driver"), text("veth"));
  EXPECT_EQ(value_of(host, "if.va0.carrier"), Value(true));
  EXPECT_EQ(value_of(host, "path.same_subnet"), Value(true));
  EXPECT_NE(why_unknown(host, "if.va0.speed_bps"), "");
  EXPECT_NE(find_fact(host, "if.va0.offload.tso"), nullptr);
  EXPECT_NE(why_unknown(host, "if.va0.pcie"), "");
}

}  // namespace
}  // namespace netbench::facts
