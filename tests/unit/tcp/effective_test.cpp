#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/tcp/pair.hpp"

namespace netbench::tcp::test {
namespace {

std::int64_t sysctl(const char* name) {
  std::ifstream file(std::string("/proc/sys/net/core/") + name);
  std::int64_t value = 0;
  return file >> value ? value : 0;
}

TEST(TcpEffective, ReportsBothEndsBuffersInTheKernelsSense) {
  Pair pair({.values = {{"sndbuf", 65536, ""}, {"rcvbuf", 131072, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  for (End* end : {&pair.initiator(), &pair.responder()}) {
    auto values = end->effective();
    EXPECT_EQ(values["sndbuf"].number, 2 * 65536);
    EXPECT_EQ(values["rcvbuf"].number, 2 * 131072);
    EXPECT_EQ(values["rcvbuf"].flags, 0u);
  }
}

TEST(TcpEffective, FlagsACappedBufferAndNamesTheSysctl) {
  const std::int64_t limit = sysctl("rmem_max");
  if (limit == 0 || limit >= 512 * 1024 * 1024) {
    GTEST_SKIP() << "net.core.rmem_max is not readable here, or too large to exceed";
  }
  Pair pair({.values = {{"sndbuf", 2 * sysctl("wmem_max"), ""}, {"rcvbuf", 2 * limit, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  for (End* end : {&pair.initiator(), &pair.responder()}) {
    auto values = end->effective();
    EXPECT_EQ(values["rcvbuf"].flags, NB_EFFECTIVE_CAPPED);
    EXPECT_EQ(values["rcvbuf"].number, 2 * limit);
    const std::string remedy = "sysctl -w net.core.rmem_max=" + std::to_string(2 * limit);
    EXPECT_NE(values["rcvbuf"].note.find(remedy), std::string::npos) << values["rcvbuf"].note;
    EXPECT_EQ(values["sndbuf"].flags, NB_EFFECTIVE_CAPPED);
    EXPECT_NE(values["sndbuf"].note.find("net.core.wmem_max"), std::string::npos);
  }
}

TEST(TcpEffective, AppliesAnMssOnBothEnds) {
  Pair pair({.values = {{"mss", 1000, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  for (End* end : {&pair.initiator(), &pair.responder()}) {
    auto values = end->effective();
    EXPECT_EQ(values["mss"].flags, 0u);
    EXPECT_LE(values["mss"].number, 1000);
    EXPECT_GE(values["mss"].number, 988);  // 12 B of timestamps
  }
}

TEST(TcpEffective, AppliesCongestionControlToBothEndsAndOnlyToThisPoint) {
  {
    Pair pair({.values = {{"congestion", 0, "reno"}}});
    ASSERT_EQ(pair.connect().message, "");
    EXPECT_EQ(pair.initiator().effective()["congestion"].text, "reno");
    EXPECT_EQ(pair.responder().effective()["congestion"].text, "reno");
  }
  Pair pair(Point{});
  ASSERT_EQ(pair.connect().message, "");
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string standard;
  file >> standard;
  EXPECT_EQ(pair.responder().effective()["congestion"].text, standard);
}

TEST(TcpEffective, LetsTheKernelTuneABufferThatAnEarlierPointHadLocked) {
  Pair pair(Point{});
  const int locked = 16384;
  ::setsockopt(pair.host().listener(), SOL_SOCKET, SO_RCVBUF, &locked, sizeof locked);
  ASSERT_EQ(pair.connect().message, "");
  auto responding =
      std::async(std::launch::async, [&] { return pair.responder().run(0, 100 * kMillisecond); });
  ASSERT_EQ(pair.initiator().run(0, 100 * kMillisecond).message, "");
  ASSERT_EQ(responding.get().message, "");
  EXPECT_GT(pair.responder().effective()["rcvbuf"].number, 2 * locked);
}

TEST(TcpEffective, ReportsExactlyTheTunablesOfTheWorkload) {
  for (const char* workload :
       {"latency", "bandwidth", "message_rate", "loaded_latency", "connect"}) {
    Pair pair({.workload = workload, .message_bytes = 64});
    ASSERT_EQ(pair.connect().message, "") << workload;
    auto values = pair.initiator().effective();
    const std::uint64_t own = std::uint64_t{1} << workload_index(workload);
    for (std::size_t index = 0; index < nb_transport_entry_v1.tunable_count; ++index) {
      const nb_tunable& tunable = nb_transport_entry_v1.tunables[index];
      const bool applies = tunable.workloads == 0 || (tunable.workloads & own) != 0;
      EXPECT_EQ(values.count(tunable.name), applies ? 1u : 0u) << workload << " " << tunable.name;
    }
  }
}

TEST(TcpEffective, ReportsNodelayDscpPacingAndChoices) {
  Pair pair({.values = {{"nodelay", 0, ""},
                        {"dscp", 46, ""},
                        {"pacing", 800'000'000, ""},
                        {"mode", 2, ""},
                        {"receive", 1, ""}}});
  ASSERT_EQ(pair.connect().message, "");
  for (End* end : {&pair.initiator(), &pair.responder()}) {
    auto values = end->effective();
    EXPECT_EQ(values["nodelay"].number, 0);
    EXPECT_EQ(values["dscp"].number, 46);
    EXPECT_EQ(values["pacing"].number, 800'000'000);
    EXPECT_EQ(values["mode"].text, "vmsplice");
    EXPECT_EQ(values["receive"].text, "discard");
  }
}

TEST(TcpEffective, BindsToASourceAddressAndToAnInterface) {
  for (const char* source : {"127.0.0.2", "lo"}) {
    Pair pair({.values = {{"bind", 0, source}}});
    ASSERT_EQ(pair.connect().message, "");
    const std::string text = pair.initiator().effective()["bind"].text;
    EXPECT_EQ(text.rfind(source[0] == 'l' ? "127.0.0.1:" : "127.0.0.2:", 0), 0u) << text;
  }
}

}  // namespace
}  // namespace netbench::tcp::test
