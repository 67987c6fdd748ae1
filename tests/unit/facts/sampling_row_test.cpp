#include "bench/facts/sampling_row.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/ethernet.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "bench/core/clock.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

using std::chrono::milliseconds;

const std::string kData = NETBENCH_FACTS_TEST_DATA;

HostEnds recorded(const std::string& tree) {
  return read_host_ends(
      {.root = kData + "/" + tree, .interface = "eth0", .interface_index = 2, .known_pids = {}});
}

bool mentions(const std::vector<std::string>& notes, const std::string& part) {
  return std::ranges::any_of(
      notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// A root discipline with these counts.
QdiscCounts root_queue(std::uint64_t drops, std::uint64_t backlog_bytes) {
  QdiscCounts counts;
  counts.parent = 0xffffffff;
  counts.kind = "fq_codel";
  counts.drops = drops;
  counts.backlog_bytes = backlog_bytes;
  return counts;
}

/// Of this host, looking often.
RowSamplerOptions live(const std::string& interface) {
  RowSamplerOptions options;
  options.interface = interface;
  options.period = milliseconds(20);
  return options;
}

TEST(HostEnds, AreDifferencesOrTheLaterValue) {
  const auto change = host_ends_delta(recorded("row_before"), recorded("row_after"));
  EXPECT_EQ(change.counters.at("psi.cpu_some_us"), 152000);
  EXPECT_EQ(change.counters.at("conntrack.count"), 125);
  EXPECT_EQ(change.counters.at("aer.eth0.correctable"), 9);
  EXPECT_EQ(change.counters.at("aer.eth0.fatal"), 0) << "read, and nothing happened";
  EXPECT_TRUE(change.notes.empty()) << change.notes.front();
}

TEST(HostEnds, TellOfTheGroupThatWasThrottledMost) {
  const auto change = host_ends_delta(recorded("row_before"), recorded("row_after"));
  EXPECT_EQ(change.counters.at("cgroup.nr_periods"), 20);
  EXPECT_EQ(change.counters.at("cgroup.nr_throttled"), 18);
  EXPECT_DOUBLE_EQ(change.counters.at("cgroup.throttled_s"), 0.75);
}

TEST(HostEnds, CountForeignPacketSocketsOfEitherEnd) {
  const auto change = host_ends_delta(recorded("row_before"), recorded("row_after"));
  EXPECT_EQ(change.counters.at("packet_sockets.foreign"), 2) << "one of them closed meanwhile";
}

TEST(HostEnds, CountTheBytesOfEachMemberOfTheBondBelow) {
  const auto ends = [](const std::string& tree, const std::string& interface) {
    return read_host_ends({.root = kData + "/" + tree, .interface = interface, .known_pids = {}});
  };
  for (const char* interface : {"bond0", "bond0.7"}) {
    const auto change =
        host_ends_delta(ends("row_before", interface), ends("row_after", interface));
    EXPECT_EQ(change.counters.at("if.eth1.tx_bytes"), 7000) << interface;
    EXPECT_EQ(change.counters.at("if.eth1.rx_bytes"), 400) << interface;
    EXPECT_EQ(change.counters.at("if.eth2.tx_bytes"), 0) << interface;
  }
}

TEST(HostEnds, GiveNoKeyForWhatCannotBeRead) {
  const auto nowhere = recorded("nowhere");
  const auto change = host_ends_delta(nowhere, nowhere);
  EXPECT_TRUE(change.counters.empty());
  for (const char* source : {"/proc/pressure/cpu", "nf_conntrack_count", "aer_dev_fatal",
                             "/proc/self/cgroup", "/proc/net/packet"}) {
    EXPECT_TRUE(mentions(change.notes, source)) << source;
  }
}

TEST(HostEnds, GiveNoKeyForWhatOnlyOneEndCouldRead) {
  auto before = recorded("row_before");
  before.counts.erase("psi.cpu_some_us");
  before.counts["aer.eth0.correctable"] = 100;
  const auto change = host_ends_delta(before, recorded("row_after"));
  EXPECT_FALSE(change.counters.contains("psi.cpu_some_us"));
  EXPECT_FALSE(change.counters.contains("aer.eth0.correctable"));
  EXPECT_TRUE(mentions(change.notes, "aer.eth0.correctable ran backwards (100 to 12)"));
}

TEST(RowSampler, GivesMedianAndMaximumOfTheBacklog) {
  std::vector<QdiscCounts> now{root_queue(5, 0)};
  RowSampler sampler({.root = kData + "/row_before",
                      .interface = "eth0",
                      .known_pids = {},
                      .period = std::chrono::hours(1),
                      .qdiscs = [&] { return Result<std::vector<QdiscCounts>>(now); }});
  sampler.begin();
  for (const std::uint64_t backlog : {100u, 3000u, 200u}) {
    now = {root_queue(7, backlog)};
    sampler.look();
  }
  now = {root_queue(9, 0)};
  const auto row = sampler.end();
  EXPECT_EQ(row.counters.at("qdisc.eth0.drops"), 4);
  EXPECT_EQ(row.counters.at("qdisc.eth0.requeues"), 0);
  EXPECT_EQ(row.counters.at("qdisc.eth0.backlog_bytes"), 200);
  EXPECT_EQ(row.counters.at("qdisc_max.eth0.backlog_bytes"), 3000);
  EXPECT_EQ(row.counters.at("sockstat.tcp_mem_pages"), 9);
  EXPECT_FALSE(row.counters.contains("qdisc.eth0.ingress_drops"));
}

TEST(RowSampler, LooksByItselfUntilTheEndOfTheRow) {
  std::atomic<int> looks{0};
  RowSampler sampler({.root = kData + "/row_before",
                      .interface = "eth0",
                      .known_pids = {},
                      .period = milliseconds(5),
                      .qdiscs = [&] {
                        ++looks;
                        return Result<std::vector<QdiscCounts>>({root_queue(0, 0)});
                      }});
  sampler.begin();
  const auto until = Deadline::after(std::chrono::seconds(10));
  while (looks < 5 && !until.passed()) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_GE(looks, 5);
  EXPECT_FALSE(sampler.end().counters.empty());
  const int at_end = looks;
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(looks, at_end);
}

TEST(RowSampler, LooksRarelyWhereALookIsDear) {
  std::atomic<int> looks{0};
  RowSampler sampler({.root = kData + "/row_before",
                      .interface = "eth0",
                      .known_pids = {},
                      .period = milliseconds(5),
                      .qdiscs = [&] {
                        ++looks;
                        const auto end = Deadline::after(milliseconds(30));
                        while (!end.passed()) {
                        }
                        return Result<std::vector<QdiscCounts>>({root_queue(0, 0)});
                      }});
  sampler.begin();
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_LE(looks, 2) << "the beginning and one more: the next is due six seconds later";
}

TEST(RowSampler, SaysWhyAQueueCouldNotBeRead) {
  RowSampler sampler({.root = kData + "/row_before",
                      .interface = "eth0",
                      .known_pids = {},
                      .period = std::chrono::hours(1),
                      .qdiscs = []() -> Result<std::vector<QdiscCounts>> {
                        return fail("netlink", "queues of eth0: no such luck");
                      }});
  sampler.begin();
  const auto row = sampler.end();
  EXPECT_TRUE(mentions(row.notes, "no such luck"));
  EXPECT_FALSE(row.counters.contains("qdisc.eth0.drops"));
}

TEST(RowSampler, EndsARowThatNeverBegan) {
  RowSampler sampler({});
  EXPECT_TRUE(sampler.end().counters.empty());
}

TEST(RowSampler, SeesWhatAShaperInANamespaceDrops) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace host;
  host.run(
      "ip link add test0 type veth peer name far0 && ip link set far0 up && "
      "ip link set test0 up && ip addr add 192.0.2.1/24 dev test0 && "
      "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:01 dev test0 && "
      "tc qdisc add dev test0 root handle 1: tbf rate 100kbit burst 2k limit 3000");
  const Namespace::Stay inside(host);
  RowSampler sampler(live("test0"));
  sampler.begin();
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.2", &peer.sin_addr);
  const std::vector<char> payload(1000);
  for (int i = 0; i < 50; ++i) {
    ::sendto(socket.get(), payload.data(), payload.size(), 0,
             reinterpret_cast<const sockaddr*>(&peer), sizeof(peer));
  }
  std::this_thread::sleep_for(milliseconds(100));
  const auto row = sampler.end();
  EXPECT_GT(row.counters.at("qdisc.test0.drops"), 30);
  EXPECT_GT(row.counters.at("qdisc.test0.overlimits"), 0);
  EXPECT_GT(row.counters.at("qdisc.test0.packets"), 0);
  EXPECT_GT(row.counters.at("qdisc_max.test0.backlog_bytes"), 500);
  EXPECT_TRUE(row.counters.contains("sockstat.tcp_mem_pages"));
}

TEST(RowSampler, SeesAForeignCaptureInANamespace) {
  SKIP_WITHOUT_NAMESPACES();
  const Namespace host;
  const Namespace::Stay inside(host);
  RowSampler sampler(live("lo"));
  sampler.begin();
  const UniqueFd own(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
  const auto row = sampler.end();
  EXPECT_EQ(row.counters.at("packet_sockets.foreign"), 0) << "it is ours";
  EXPECT_FALSE(row.counters.contains("qdisc.lo.drops")) << "lo has no queue";
}

}  // namespace
}  // namespace netbench::facts
