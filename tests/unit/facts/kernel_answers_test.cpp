// What the kernel itself answers, in namespaces made for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/core/clock.hpp"
#include "bench/facts/host_facts.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

const Fact* fact_in(const HostInfo& host, const std::string& key) {
  const Fact* fact = find_fact(host, key);
  EXPECT_NE(fact, nullptr) << key;
  return fact;
}

Value value_of(const HostInfo& host, const std::string& key) {
  const Fact* fact = fact_in(host, key);
  return fact == nullptr ? Value{} : fact->value;
}

Value text(const char* value) { return std::string(value); }

/// Two namespaces joined by a veth pair, va0 here with 10.9.0.1/24.
struct Cable {
  Cable() {
    here.run("ip link add va0 type veth peer name vb0 netns " + there.path());
    here.run("ip addr add 10.9.0.1/24 dev va0 && ip link set va0 up");
    there.run("ip addr add 10.9.0.2/24 dev vb0 && ip link set vb0 up");
  }
  [[nodiscard]] HostInfo collect(const std::string& peer = "10.9.0.2") const {
    const Namespace::Stay stay(here);
    return collect_host({.peer_address = peer});
  }

  Namespace here;
  Namespace there;
};

TEST(KernelAnswers, NameATokenBucketAndItsRate) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  cable.here.run("tc qdisc add dev va0 root tbf rate 123mbit burst 32kb limit 90000");
  const HostInfo host = cable.collect();
  EXPECT_EQ(value_of(host, "qdisc.va0.kind"), text("tbf"));
  EXPECT_EQ(value_of(host, "qdisc.va0.rate_bps"), Value(123e6));
  EXPECT_EQ(value_of(host, "qdisc.va0.limit_bytes"), Value(std::int64_t{90000}));
  EXPECT_EQ(value_of(host, "qdisc.va0.ingress"), text("none"));
}

TEST(KernelAnswers, TellAFirewallThatDropsFromOneThatRefuses) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  cable.here.run(
      "nft 'table inet t { chain services { tcp dport 22 accept; reject; }; "
      "chain entry { type filter hook input priority 0; policy accept; iif lo accept; "
      "jump services; }; chain through { type filter hook forward priority 0; policy drop; }; "
      "chain exit { type filter hook output priority 0; policy accept; counter; }; }'");
  const HostInfo host = cable.collect();
  EXPECT_EQ(value_of(host, "firewall.input_policy"), text("accept"));
  EXPECT_EQ(value_of(host, "firewall.input_refuses"), Value(true));
  EXPECT_EQ(value_of(host, "firewall.input_rules"), Value(std::int64_t{4}));
  EXPECT_EQ(value_of(host, "firewall.forward_policy"), text("drop"));
  EXPECT_EQ(value_of(host, "firewall.output_refuses"), Value(false));
  EXPECT_EQ(value_of(host, "firewall.ruleset"), text("nf_tables: 3 base chains, 5 rules"));
}

TEST(KernelAnswers, NameTheStateOfTheNeighbour) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  EXPECT_NE(fact_in(cable.collect(), "neighbour.state")->unknown_because, "");
  cable.here.run("ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:07 dev va0 nud permanent");
  const HostInfo host = cable.collect();
  EXPECT_EQ(value_of(host, "neighbour.state"), text("permanent"));
  EXPECT_EQ(value_of(host, "neighbour.mac"), text("02:00:00:00:00:07"));
}

TEST(KernelAnswers, GoDownThroughATunnel) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  cable.here.run(
      "ip link add vx type vxlan id 7 remote 10.9.0.2 dev va0 dstport 4789 && "
      "ip addr add 172.16.7.1/24 dev vx && ip link set vx up");
  const HostInfo host = cable.collect("172.16.7.2");
  EXPECT_EQ(host.interface, "vx");
  EXPECT_EQ(value_of(host, "if.vx.stack"), text("vx > va0"));
  EXPECT_EQ(value_of(host, "if.vx.tunnel_overhead_bytes"), Value(std::int64_t{50}));
  EXPECT_EQ(value_of(host, "if.va0.kind"), text("veth"));
}

TEST(KernelAnswers, KnowTheFastestLinkModeByTheKernelsOwnNames) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  const HostInfo host = cable.collect();
  EXPECT_EQ(fact_in(host, "if.va0.speed_max_bps")->value, Value{}) << "a veth has none";
  EXPECT_NE(fact_in(host, "if.va0.eee.enabled")->unknown_because, "");
  EXPECT_NE(fact_in(host, "if.va0.fec.active")->unknown_because, "");
}

TEST(KernelAnswers, CountWhatTheCarrierDid) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  const auto before = std::get<std::int64_t>(value_of(cable.collect(), "if.va0.carrier_changes"));
  cable.there.run("ip link set vb0 down && ip link set vb0 up");
  const auto after = std::get<std::int64_t>(value_of(cable.collect(), "if.va0.carrier_changes"));
  EXPECT_EQ(after - before, 2);
}

// An LLDP frame sent by Python's packet socket at the other end.
constexpr const char* kSendLldp =
    "python3 -c \"import socket, time; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); "
    "s.bind(('vb0', 0)); f = bytes.fromhex('0180c200000e02000000000188cc"
    "020704020000aabb00040d0545746865726e6574312f313706020078"
    "0a076c6561662d34610000'); [(s.send(f), time.sleep(0.05)) for _ in range(40)]\"";

TEST(KernelAnswers, HearTheSwitchAtTheOtherEndOfTheCable) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  std::thread sender([&] { cable.there.run(kSendLldp); });
  HostInfo host;
  {
    const Namespace::Stay stay(cable.here);
    host = collect_host({.peer_address = "10.9.0.2", .lldp_wait = std::chrono::seconds(10)});
  }
  sender.join();
  EXPECT_EQ(value_of(host, "if.va0.lldp.system"), text("leaf-4a"));
  EXPECT_EQ(value_of(host, "if.va0.lldp.port"), text("Ethernet1/17"));
}

TEST(KernelAnswers, StopListeningForASwitchInTime) {
  SKIP_WITHOUT_NAMESPACES();
  const Cable cable;
  const Namespace::Stay stay(cable.here);
  const auto start_ns = monotonic_ns();
  const HostInfo host =
      collect_host({.peer_address = "10.9.0.2", .lldp_wait = std::chrono::milliseconds(100)});
  EXPECT_LT(monotonic_ns() - start_ns, 1'000'000'000);
  EXPECT_NE(fact_in(host, "if.va0.lldp.system")->unknown_because.find("no LLDP came in"),
            std::string::npos);
}

TEST(KernelAnswers, ResolveANameThatIsNotThereInTime) {
  const auto start_ns = monotonic_ns();
  const HostInfo host =
      collect_host({.peer_address = "127.0.0.1", .peer_name = "netbench-none.invalid"});
  EXPECT_LT(monotonic_ns() - start_ns, 1'000'000'000);
  EXPECT_NE(fact_in(host, "name.peer_resolves_to")->unknown_because.find("netbench-none.invalid"),
            std::string::npos);
}

TEST(KernelAnswers, ResolveThePeersNameToTheTestedAddress) {
  const HostInfo host = collect_host({.peer_address = "127.0.0.1", .peer_name = "localhost"});
  EXPECT_EQ(value_of(host, "name.peer_is_tested_address"), Value(true));
}

TEST(KernelAnswers, AboutEveryInterfaceTakeUnderASecond) {
  const auto start_ns = monotonic_ns();
  const HostInfo host = collect_host({.every_interface = true});
  const auto taken_ns = monotonic_ns() - start_ns;
  RecordProperty("collect_us", std::to_string(taken_ns / 1000));
  EXPECT_LT(taken_ns, 1'000'000'000);
  EXPECT_GT(host.facts.size(), 100U);
}

}  // namespace
}  // namespace netbench::facts
