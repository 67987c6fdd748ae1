#include "transports/sdk/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "transports/sdk/clock.hpp"

namespace netbench::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(WorkerTeam, PreparesAllBeforeAnyBegins) {
  WorkerTeam team;
  std::atomic<int> prepared{0};
  std::atomic<int> worked{0};
  std::vector<Job> jobs(4, Job{[&] { ++prepared; }, [&] { worked += prepared == 4; }, {}});
  team.launch(std::move(jobs));
  EXPECT_EQ(prepared, 4);
  EXPECT_EQ(worked, 0);
  team.start();
  EXPECT_TRUE(team.wait_all(steady_clock::now() + milliseconds(5000)));
  EXPECT_EQ(worked, 4);
}

TEST(WorkerTeam, LetsThreadsLeaveThatNeverStarted) {
  std::atomic<bool> worked{false};
  {
    WorkerTeam team;
    team.launch({Job{{}, [&] { worked = true; }, {}}});
  }
  EXPECT_FALSE(worked);
}

TEST(WorkerTeam, SaysWhenTheWorkIsNotDoneInTime) {
  WorkerTeam team;
  std::atomic<bool> go{false};
  team.launch({Job{{}, [&] { go.wait(false); }, {}}});
  team.start();
  EXPECT_FALSE(team.wait_all(steady_clock::now() + milliseconds(10)));
  go = true;
  go.notify_all();
  EXPECT_TRUE(team.wait_all(steady_clock::now() + milliseconds(5000)));
}

TEST(WorkerTeam, KeepsTheCpuTimeOfThreadsThatHaveEnded) {
  WorkerTeam team;
  team.launch({Job{{},
                   [] {
                     const std::int64_t end = MonotonicClock::now_ns() + 20'000'000;
                     while (MonotonicClock::now_ns() < end) {
                     }
                   },
                   {}}});
  team.start();
  ASSERT_TRUE(team.wait_all(steady_clock::now() + milliseconds(5000)));
  const double spent = team.cpu_seconds(0);
  EXPECT_GT(spent, 0);
  team.join();
  EXPECT_EQ(team.cpu_seconds(0), spent);
}

TEST(WorkerTeam, BlocksSignalsInItsThreads) {
  WorkerTeam team;
  std::atomic<int> blocked{-1};
  team.launch({Job{{},
                   [&] {
                     sigset_t mask;
                     pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                     blocked = sigismember(&mask, SIGPIPE);
                   },
                   {}}});
  team.start();
  ASSERT_TRUE(team.wait_all(steady_clock::now() + milliseconds(5000)));
  EXPECT_EQ(blocked, 1);
}

TEST(CpuLists, AreReadAsRangesAndSums) {
  EXPECT_EQ(parse_cpu_list("auto"), CpuList{});
  EXPECT_EQ(parse_cpu_list("3"), CpuList{3});
  EXPECT_EQ(parse_cpu_list("0+2"), (CpuList{0, 2}));
  EXPECT_EQ(parse_cpu_list("0-2+8"), (CpuList{0, 1, 2, 8}));
}

TEST(CpuLists, HaveOnePartForEachRole) {
  EXPECT_EQ(cpus_of_role("0-1:4", NB_INITIATOR), (CpuList{0, 1}));
  EXPECT_EQ(cpus_of_role("0-1:4", NB_RESPONDER), CpuList{4});
  EXPECT_EQ(cpus_of_role("5", NB_RESPONDER), CpuList{5});
  EXPECT_EQ(cpus_of_role("auto:1", NB_INITIATOR), CpuList{});
}

TEST(CpuLists, RefuseWhatIsNoList) {
  for (const char* text : {"x", "1,2", "2-1", "1-", "-1", "1+", "99999", "1:y", "1 2"}) {
    EXPECT_THROW((void)cpus_of_role(text, NB_INITIATOR), Error) << text;
  }
}

TEST(ScopedPin, GivesTheAffinityBack) {
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) {
    ++first;
  }
  {
    const ScopedPin pin(first);
    EXPECT_EQ(sched_getcpu(), first);
  }
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace netbench::sdk
