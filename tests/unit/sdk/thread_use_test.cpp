#include "transports/sdk/thread_use.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "transports/sdk/workers.hpp"

namespace netbench::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void spin_for(milliseconds time) {
  const auto end = steady_clock::now() + time;
  while (steady_clock::now() < end) {
  }
}

int first_usable_cpu() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
    ++cpu;
  }
  return cpu;
}

std::map<std::string, double> emitted(const ThreadUseSum& sum, const std::string& kind) {
  std::map<std::string, double> numbers;
  const nb_sink sink{sizeof sink, &numbers,
                     [](void* context, const char* name, double value) {
                       (*static_cast<std::map<std::string, double>*>(context))[name] = value;
                     },
                     [](void*, const char*, const char*) {}};
  sum.emit(Sink(&sink), kind);
  return numbers;
}

TEST(Schedstat, GivesTheWaitBehindTheRunTime) {
  EXPECT_EQ(parse_schedstat("2415789 119043 17\n"), 119043);
}

TEST(Schedstat, IsUnknownWhereTheKernelKeepsNoAccount) {
  for (const char* text : {"0 0 0\n", "", "\n", "12", "12 x 3", "x 1 2"}) {
    EXPECT_EQ(parse_schedstat(text), std::nullopt) << text;
  }
  EXPECT_EQ(read_schedstat("/nowhere/schedstat"), std::nullopt);
}

TEST(ThreadMeter, CountsTheWaitForAnotherThreadsCpu) {
  if (!read_schedstat("/proc/thread-self/schedstat")) {
    GTEST_SKIP() << "this kernel keeps no /proc/<pid>/schedstat";
  }
  WorkerTeam team;
  const int cpu = first_usable_cpu();
  const Job job{{}, [] { spin_for(milliseconds(200)); }, cpu};
  team.launch({job, job});
  team.start();
  ASSERT_TRUE(team.wait_all(steady_clock::now() + milliseconds(20'000)));
  double waited_s = 0;
  for (std::size_t index = 0; index < 2; ++index) {
    const ThreadUse use = team.use(index);
    ASSERT_TRUE(use.wait_s.has_value());
    EXPECT_GE(use.elapsed_s, 0.2);
    EXPECT_LE(use.cpu_s + *use.wait_s, use.elapsed_s * 1.05);
    waited_s += *use.wait_s;
  }
  EXPECT_GT(waited_s, 0.1) << "two spinning threads share one CPU";
}

TEST(ThreadMeter, IsReadWhileTheThreadRuns) {
  WorkerTeam team;
  std::atomic<bool> done{false};
  team.launch({Job{{}, [&] { done.wait(false); }, {}}});
  EXPECT_EQ(team.use(0).elapsed_s, 0) << "not started";
  team.start();
  std::this_thread::sleep_for(milliseconds(50));
  const ThreadUse early = team.use(0);
  std::this_thread::sleep_for(milliseconds(50));
  const ThreadUse late = team.use(0);
  EXPECT_GE(late.elapsed_s, early.elapsed_s + 0.04);
  EXPECT_LT(late.cpu_s, 0.5 * late.elapsed_s) << "it sleeps";
  done = true;
  done.notify_all();
  ASSERT_TRUE(team.wait_all(steady_clock::now() + milliseconds(5000)));
  EXPECT_EQ(team.use(0).elapsed_s, team.use(0).elapsed_s) << "an ended thread lives no longer";
}

TEST(ThreadUseSum, CallsTheRestOfTheLifeBlocked) {
  ThreadUseSum sum;
  sum.add({2.0, 0.5, 0.25}, 0.75);
  sum.add({2.0, 1.0, 0.0}, 0.0);
  const auto numbers = emitted(sum, "send");
  EXPECT_EQ(numbers.at("send.threads"), 2);
  EXPECT_EQ(numbers.at("send.elapsed_s"), 4);
  EXPECT_EQ(numbers.at("send.cpu_s"), 1.5);
  EXPECT_EQ(numbers.at("send.wait_s"), 0.25);
  EXPECT_EQ(numbers.at("send.idle_s"), 0.75);
  EXPECT_EQ(numbers.at("send.blocked_s"), 1.5);
  EXPECT_EQ(numbers.at("send.busiest_cpu_share"), 0.5);
}

TEST(ThreadUseSum, DoesNotGuessWhereOneWaitIsUnknown) {
  ThreadUseSum sum;
  sum.add({1.0, 0.5, 0.25}, 0);
  sum.add({1.0, 0.5, std::nullopt}, 0);
  const auto numbers = emitted(sum, "recv");
  EXPECT_EQ(numbers.at("recv.cpu_s"), 1);
  EXPECT_FALSE(numbers.contains("recv.wait_s"));
  EXPECT_FALSE(numbers.contains("recv.blocked_s"));
}

TEST(ThreadUseSum, SaysNothingOfNoThreads) { EXPECT_TRUE(emitted(ThreadUseSum(), "send").empty()); }

}  // namespace
}  // namespace netbench::sdk
