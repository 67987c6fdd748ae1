#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "transports/sdk/error.hpp"
#include "transports/udp/socket.hpp"

namespace netbench::udp {

/// Where a session stands, for the threads that meet in it: the control thread (stop), the io
/// thread (run), the workers, and whoever cancels. All calls are [any-thread].
class Lifecycle {
 public:
  void request_stop() { set(stopping_); }
  void cancel() { set(cancelled_); }
  /// A socket broke; the first errno stays.
  void fail(int sys_errno) {
    int none = 0;
    failure_.compare_exchange_strong(none, sys_errno);
    wake();
  }

  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] const std::atomic<bool>& cancelled() const { return cancelled_; }
  [[nodiscard]] bool failed() const { return failure_ != 0; }

  /// Throws NB_CANCELLED after cancel(), and what broke after fail(), unless the end was asked for.
  void check() const {
    if (cancelled_) {
      throw sdk::cancelled();
    }
    if (failed() && !stopping_) {
      throw broken_socket(failure_);
    }
  }

  /// Sleeps for `duration_ns`, or until stop, cancel or a failure.
  void sleep(std::int64_t duration_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(duration_ns),
                      [this] { return stopping_ || cancelled_ || failed(); });
  }
  void sleep_until_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || cancelled_ || failed(); });
  }

 private:
  void set(std::atomic<bool>& flag) {
    flag = true;
    wake();
  }
  void wake() {
    const std::scoped_lock lock(mutex_);  // else a waiter could miss it between test and sleep
    changed_.notify_all();
  }

  std::atomic<bool> stopping_{false};
  std::atomic<bool> cancelled_{false};
  std::atomic<int> failure_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace netbench::udp
