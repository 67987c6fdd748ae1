#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "transports/sdk/error.hpp"

namespace netbench::verbs {

using TimePoint = std::chrono::steady_clock::time_point;

/// `delay_ns` from now; delays beyond a day, which mean "for ever", are cut to a day.
[[nodiscard]] inline TimePoint time_after(std::int64_t delay_ns) {
  constexpr std::int64_t kDayNs = 86'400 * std::int64_t{1'000'000'000};
  return std::chrono::steady_clock::now() +
         std::chrono::nanoseconds(std::clamp<std::int64_t>(delay_ns, 0, kDayNs));
}

/// Where a session stands, for the threads that meet in it: the control thread (stop), the io
/// thread (run), the workers, and whoever cancels. All calls are [any-thread].
class Lifecycle {
 public:
  void request_stop() {
    stopping_ = true;
    wake();
  }
  void cancel() {
    cancelled_ = true;
    quit_ = true;
    wake();
  }
  /// Loops leave at once, whatever is under way.
  void quit() {
    quit_ = true;
    wake();
  }
  /// Something that a sleeper may be interested in has happened outside.
  void notify() {
    disturbed_ = true;
    wake();
  }
  /// Something broke; the first error stays.
  void fail(const sdk::Error& error) {
    {
      const std::scoped_lock lock(mutex_);
      if (!failure_) {
        failure_ = error;
      }
      failed_ = true;
    }
    changed_.notify_all();
  }

  [[nodiscard]] const std::atomic<bool>& stopping() const { return stopping_; }
  [[nodiscard]] const std::atomic<bool>& cancelled() const { return cancelled_; }
  [[nodiscard]] const std::atomic<bool>& quitting() const { return quit_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool disturbed() const { return disturbed_; }

  /// Throws NB_CANCELLED after cancel(), and what broke after fail().
  void check() const {
    if (cancelled_) {
      throw sdk::cancelled();
    }
    const std::scoped_lock lock(mutex_);
    if (failure_) {
      throw sdk::Error(*failure_);
    }
  }

  /// Sleeps until `until`, or until stop, cancel, a failure or notify(); true where one of them
  /// happened.
  bool sleep_until(TimePoint until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until,
                               [this] { return stopping_ || cancelled_ || failed_ || disturbed_; });
  }
  /// As sleep_until(), but a stop does not end it.
  bool sleep_through_stop(TimePoint until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [this] { return cancelled_ || failed_; });
  }

 private:
  void wake() {
    { const std::scoped_lock lock(mutex_); }  // else a waiter could miss it between test and sleep
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> quit_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> disturbed_{false};
  std::optional<sdk::Error> failure_;
};

}  // namespace netbench::verbs
