#pragma once

#include <cstddef>
#include <cstdint>

namespace netbench::udp {

/// When datagrams may leave. Each has its time on a schedule of equal intervals; who comes too late
/// may make up for at most one burst, and the rest of the schedule is given up: after a stall the
/// rate is the target, not the line rate. Times are of the caller's clock.
class Pacer {
 public:
  struct Plan {
    double interval_ns = 0;  // 0: not paced
    std::size_t burst = 1;   // datagrams at once after a stall, and at most at any time
    std::size_t group = 1;   // datagrams worth waking for
  };

  /// A schedule for payload of `bits_per_second` in datagrams of `message_bytes`. A burst is 5 ms
  /// of the rate, at least two and at most `batch` datagrams, so that beyond single datagrams no 25
  /// ms have more than 1.2 times the target. A sleeping sender wakes for 100 µs of the rate, at
  /// most half a batch, a spinning one for each datagram. bits_per_second 0: not paced.
  [[nodiscard]] static Plan plan(double bits_per_second, std::int64_t message_bytes,
                                 std::size_t batch, bool spin) noexcept;

  explicit Pacer(const Plan& plan) noexcept : plan_(plan) {}

  /// Datagrams that may leave now. The first call begins the schedule.
  [[nodiscard]] std::size_t allowed(std::int64_t now_ns) noexcept;
  void sent(std::size_t datagrams) noexcept {
    next_ns_ += static_cast<double>(datagrams) * plan_.interval_ns;
  }
  /// When the next group is due.
  [[nodiscard]] std::int64_t wake_ns() const noexcept;
  /// Schedule given up so far.
  [[nodiscard]] std::int64_t lost_ns() const noexcept {
    return static_cast<std::int64_t>(lost_ns_);
  }

 private:
  Plan plan_;
  bool started_ = false;
  std::int64_t begin_ns_ = 0;
  double next_ns_ = 0;  // after begin_ns_; a double keeps 1/1000 ns over weeks
  double lost_ns_ = 0;
};

}  // namespace netbench::udp
