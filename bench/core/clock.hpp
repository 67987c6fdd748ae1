#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace netbench {

using Nanoseconds = std::chrono::nanoseconds;

/// CLOCK_MONOTONIC in nanoseconds; the clock of every deadline and measurement of this process.
[[nodiscard]] std::int64_t monotonic_ns();

/// Wall clock as RFC 3339 UTC with milliseconds, "2026-11-30T20:15:00.123Z".
[[nodiscard]] std::string utc_now();

/// A point in monotonic time by which something has to be done.
class Deadline {
 public:
  [[nodiscard]] static Deadline after(Nanoseconds delay) {
    return Deadline(monotonic_ns() + delay.count());
  }
  [[nodiscard]] bool passed() const { return monotonic_ns() >= at_ns_; }
  /// Milliseconds left for poll(2): rounded up, 0 when passed, capped to about 24 days.
  [[nodiscard]] int poll_timeout_ms() const;
  [[nodiscard]] Nanoseconds left() const;

 private:
  explicit Deadline(std::int64_t at_ns) : at_ns_(at_ns) {}
  std::int64_t at_ns_;
};

}  // namespace netbench
