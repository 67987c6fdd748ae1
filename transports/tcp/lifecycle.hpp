#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "transports/sdk/error.hpp"

namespace netbench::tcp {

using TimePoint = std::chrono::steady_clock::time_point;

/// `delay_ns` from now; delays beyond a day, which mean "for ever", are cut to a day.
[[nodiscard]] inline TimePoint time_after(std::int64_t delay_ns) {
  constexpr std::int64_t kDayNs = 86'400 * std::int64_t{1'000'000'000};
  return std::chrono::steady_clock::now() +
         std::chrono::nanoseconds(std::clamp<std::int64_t>(delay_ns, 0, kDayNs));
}

/// Where a session stands, for the three threads that meet in it: the control thread (stop), the io
/// thread (run) and whoever cancels. All calls are [any-thread].
class Lifecycle {
 public:
  /// Marks a run() in progress for its scope; throws NB_CANCELLED after cancel().
  class Run {
   public:
    explicit Run(Lifecycle& owner) : owner_(owner) {
      const std::scoped_lock lock(owner_.mutex_);
      if (owner_.cancelled_) {
        throw sdk::cancelled();
      }
      owner_.running_ = true;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() {
      const std::scoped_lock lock(owner_.mutex_);
      owner_.running_ = false;
      owner_.changed_.notify_all();
    }

   private:
    Lifecycle& owner_;
  };

  void request_stop() { set(stopping_); }
  void cancel() { set(cancelled_); }
  /// Something that wait() may be interested in has happened outside.
  void notify() {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }

  [[nodiscard]] bool stopping() const { return get(stopping_); }
  [[nodiscard]] bool cancelled() const { return get(cancelled_); }
  [[nodiscard]] bool running() const { return get(running_); }

  /// Sleeps until `deadline`, or until stop, cancel, or `event()`; true where one of them happened.
  template <class Event>
  bool wait(TimePoint deadline, Event event) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return stopping_ || cancelled_ || event(); });
  }
  /// Sleeps until `deadline`, or until cancel, or no run() is in progress; true where it ended.
  bool wait_run_ended(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return !running_ || cancelled_; });
    return !running_;
  }

 private:
  void set(bool& flag) {
    const std::scoped_lock lock(mutex_);
    flag = true;
    changed_.notify_all();
  }
  bool get(const bool& flag) const {
    const std::scoped_lock lock(mutex_);
    return flag;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  bool stopping_ = false;
  bool cancelled_ = false;
};

}  // namespace netbench::tcp
