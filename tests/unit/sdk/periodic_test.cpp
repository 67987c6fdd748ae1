#include "transports/sdk/periodic.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace netbench::sdk {
namespace {

using std::chrono::milliseconds;

TEST(Periodic, CallsUntilItIsStopped) {
  std::atomic<int> calls{0};
  Periodic periodic(milliseconds(5), [&] { ++calls; });
  periodic.start();
  periodic.start();
  const auto give_up = std::chrono::steady_clock::now() + milliseconds(5000);
  while (calls < 3 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  periodic.stop();
  const int at_stop = calls;
  EXPECT_GE(at_stop, 3);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(calls, at_stop);
  periodic.stop();
}

TEST(Periodic, CallsRarelyWhatIsDear) {
  std::atomic<int> calls{0};
  Periodic periodic(milliseconds(1), [&] {
    ++calls;
    const auto end = std::chrono::steady_clock::now() + milliseconds(30);
    while (std::chrono::steady_clock::now() < end) {
    }
  });
  periodic.start();
  std::this_thread::sleep_for(milliseconds(200));
  periodic.stop();
  EXPECT_LE(calls, 1) << "the next is due three seconds later";
}

TEST(Periodic, NeverCallsBeforeOnePeriod) {
  std::atomic<int> calls{0};
  Periodic periodic(milliseconds(60'000), [&] { ++calls; });
  periodic.start();
  periodic.stop();
  EXPECT_EQ(calls, 0);
}

TEST(Periodic, EndsWithoutEverHavingStarted) {
  std::atomic<int> calls{0};
  {
    const Periodic periodic(milliseconds(1), [&] { ++calls; });
  }
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace netbench::sdk
