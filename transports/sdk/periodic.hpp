#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "transports/sdk/workers.hpp"

namespace netbench::sdk {

/// Calls something again and again on a thread of its own, from one period after start() until
/// stop(). A call that costs more than a hundredth of the period makes them rarer, so that they
/// never take more than a hundredth of a core. The call must not throw.
class Periodic {
 public:
  /// Makes the thread; throws NB_FAILED where the system gives none.
  Periodic(std::chrono::milliseconds period, std::function<void()> call)
      : period_(period), call_(std::move(call)) {
    std::vector<Job> jobs;
    jobs.push_back({{}, [this] { run(); }, std::nullopt});
    team_.launch(std::move(jobs));
  }
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;
  ~Periodic() { stop(); }

  /// Further calls do nothing. [any-thread]
  void start() { team_.start(); }

  /// No call is made once this has returned; further calls do nothing. [control-thread]
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    team_.join();
  }

 private:
  static constexpr int kCostShare = 100;

  /// Of the calling thread: a call that had to wait for a CPU is not dear.
  static std::chrono::nanoseconds cpu_time() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }

  void run() {
    auto due = std::chrono::steady_clock::now() + period_;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_until(lock, due, [this] { return stopped_; })) {
      lock.unlock();
      const auto before = cpu_time();
      call_();
      const auto cost = cpu_time() - before;
      lock.lock();
      due = std::max(due + period_, std::chrono::steady_clock::now() + kCostShare * cost);
    }
  }

  std::chrono::milliseconds period_;
  std::function<void()> call_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  WorkerTeam team_;
};

}  // namespace netbench::sdk
