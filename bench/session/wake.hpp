#pragma once

#include <functional>
#include <thread>

#include "bench/core/unique_fd.hpp"

namespace netbench::session {

/// An eventfd(2) that makes a poll(2) return.
class WakeFd {
 public:
  WakeFd();
  /// -1 where the process ran out of descriptors.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// [any-thread], async-signal-safe.
  void notify() const;
  /// Takes the pending notifications away.
  void drain() const;

 private:
  UniqueFd fd_;
};

/// A thread with a name (at most 15 characters) that no signal is delivered to, so that signals
/// reach the thread that waits for them.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace netbench::session
