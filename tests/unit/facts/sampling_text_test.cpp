#include "bench/facts/sampling_text.hpp"

#include <gtest/gtest.h>

namespace netbench::facts {
namespace {

using Paths = std::vector<std::string>;

TEST(CpuStat, IsReadInBothVersions) {
  const auto first = parse_cpu_stat("nr_periods 40\nnr_throttled 12\nthrottled_time 3500000000\n");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->periods, 40);
  EXPECT_EQ(first->throttled, 12);
  EXPECT_DOUBLE_EQ(first->throttled_s, 3.5);
  const auto second = parse_cpu_stat(
      "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 7\nnr_throttled 2\n"
      "throttled_usec 250000\nnr_bursts 0\nburst_usec 0\n");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->throttled, 2);
  EXPECT_DOUBLE_EQ(second->throttled_s, 0.25);
}

TEST(CpuStat, OfARootGroupHasNoLimit) {
  EXPECT_FALSE(parse_cpu_stat("usage_usec 900\nuser_usec 600\nsystem_usec 300\n").has_value());
  EXPECT_FALSE(parse_cpu_stat("").has_value());
}

TEST(CpuStatPaths, GoUpFromTheOwnGroupOfVersion2) {
  EXPECT_EQ(cpu_stat_paths("0::/user.slice/run-1.scope\n"),
            (Paths{"/sys/fs/cgroup/user.slice/run-1.scope/cpu.stat",
                   "/sys/fs/cgroup/user.slice/cpu.stat", "/sys/fs/cgroup/cpu.stat"}));
  EXPECT_EQ(cpu_stat_paths("0::/\n"), Paths{"/sys/fs/cgroup/cpu.stat"});
}

TEST(CpuStatPaths, PreferTheControllerOfVersion1) {
  EXPECT_EQ(cpu_stat_paths("5:cpuset:/a\n4:cpu,cpuacct:/a\n0::/b\n"),
            (Paths{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
                   "/sys/fs/cgroup/cpu/a/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"}));
  EXPECT_EQ(cpu_stat_paths("2:cpuacct:/a\n1:cpu:/\n"), Paths{"/sys/fs/cgroup/cpu/cpu.stat"});
}

TEST(CpuStatPaths, AreNoneForATextOfAnotherKind) {
  EXPECT_TRUE(cpu_stat_paths("").empty());
  EXPECT_TRUE(cpu_stat_paths("nonsense\n:\n").empty());
}

TEST(TcpMemory, IsInPagesOfTheTcpLine) {
  EXPECT_EQ(parse_tcp_memory("sockets: used 1\nTCP: inuse 1 orphan 0 tw 3 alloc 1 mem 177\n"
                             "UDP: inuse 0 mem 5\n"),
            177);
  EXPECT_EQ(parse_tcp_memory("UDP: inuse 0 mem 5\n"), std::nullopt);
  EXPECT_EQ(parse_tcp_memory("TCP: inuse 1 mem\n"), std::nullopt);
}

TEST(AerTotal, IsTheLastLine) {
  EXPECT_EQ(parse_aer_total("RxErr 4\nBadTLP 1\nTOTAL_ERR_COR 5\n"), 5);
  EXPECT_EQ(parse_aer_total("RxErr 4\n"), std::nullopt);
}

TEST(Pressure, IsTheTotalOfSome) {
  EXPECT_EQ(parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"),
            42);
  EXPECT_EQ(parse_pressure("full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"), std::nullopt);
}

TEST(PacketSockets, CountWhereTestPacketsAreCopied) {
  const std::string text =
      "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"
      "00000000a1b2c3d4 3      3    0003   2     1 0      0      11\n"
      "00000000a1b2c3d4 3      3    0003   0     1 0      0      12\n"
      "00000000a1b2c3d4 3      3    0003   9     1 0      0      13\n"
      "00000000a1b2c3d4 3      3    88cc   2     1 0      0      14\n"
      "00000000a1b2c3d4 3      2    86dd   2     1 0      0      15\n";
  EXPECT_EQ(count_packet_sockets(text, 2, {}), 3);
  EXPECT_EQ(count_packet_sockets(text, 2, {11, 15}), 1) << "own sockets";
  EXPECT_EQ(count_packet_sockets("", 2, {}), 0);
}

TEST(SocketInode, IsInTheLinkOfADescriptor) {
  EXPECT_EQ(parse_socket_inode("socket:[4711]"), 4711);
  for (const char* link : {"pipe:[4711]", "socket:[", "socket:[]", "socket:[x]", "/dev/null"}) {
    EXPECT_EQ(parse_socket_inode(link), std::nullopt) << link;
  }
}

}  // namespace
}  // namespace netbench::facts
