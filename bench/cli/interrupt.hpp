#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "bench/core/unique_fd.hpp"
#include "bench/session/wake.hpp"

namespace netbench::cli {

/// Takes SIGINT, SIGTERM and SIGHUP on a thread of its own. Make one before any other thread, which
/// then never sees these signals. The second signal ends the process at once, with the default
/// action. SIGPIPE is ignored: a reader that has gone must not keep settings from being restored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True from the first signal on.
  [[nodiscard]] const std::atomic<bool>& flag() const { return flag_; }
  /// Readable from the first signal on.
  [[nodiscard]] int fd() const { return raised_.fd(); }
  /// Called on the signal thread at the first signal (at once where it has come); {} to end that.
  void on_signal(std::function<void()> action);

 private:
  void wait();

  UniqueFd signals_;
  session::WakeFd raised_;
  session::WakeFd ended_;
  std::atomic<bool> flag_ = false;
  std::mutex mutex_;
  std::function<void()> action_;
  std::thread thread_;
};

}  // namespace netbench::cli
