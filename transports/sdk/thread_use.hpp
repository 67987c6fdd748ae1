#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/cpus.hpp"
#include "transports/sdk/host.hpp"

/// Where the life of a thread went: on a CPU, waiting for one, asleep by its own choice, or blocked
/// in the kernel.
namespace netbench::sdk {

/// Life time of a thread so far, its CPU time, and how long it could have run but had no CPU;
/// nothing where the kernel does not count that.
struct ThreadUse {
  double elapsed_s = 0;
  double cpu_s = 0;
  std::optional<double> wait_s;
};

/// Second number of a text of /proc/<pid>/schedstat: nanoseconds spent runnable without a CPU
/// (Documentation/scheduler/sched-stats.rst). Nothing where the kernel keeps no account: its CPU
/// time is 0 then too.
[[nodiscard]] inline std::optional<std::int64_t> parse_schedstat(std::string_view text) noexcept {
  std::int64_t ran_ns = 0;
  std::int64_t waited_ns = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, ran_ns);
  if (first.ec != std::errc{} || first.ptr == end || ran_ns == 0) {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, end, waited_ns);
  return second.ec == std::errc{} ? std::optional(waited_ns) : std::nullopt;
}

/// parse_schedstat() of a file, or nothing.
[[nodiscard]] inline std::optional<std::int64_t> read_schedstat(const char* path) noexcept {
  std::array<char, 96> text{};
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : ::read(file, text.data(), text.size());
  if (file >= 0) {
    ::close(file);
  }
  return got > 0 ? parse_schedstat({text.data(), static_cast<std::size_t>(got)}) : std::nullopt;
}

/// Accounts of one thread, readable by others while it runs and after it has ended. One stretch.
class ThreadMeter {
 public:
  /// From the thread itself, when its work begins.
  void begin() noexcept {
    task_.store(::syscall(SYS_gettid), std::memory_order_relaxed);
    const auto waited = read_schedstat("/proc/thread-self/schedstat");
    waited_before_ns_.store(waited.value_or(kUnknown), std::memory_order_relaxed);
    cpu_.begin();
    begin_ns_.store(MonotonicClock::now_ns(), std::memory_order_release);
  }
  /// From the thread itself, when its work has ended.
  void end() noexcept {
    cpu_.end();
    waited_after_ns_.store(waited_ns("/proc/thread-self/schedstat"), std::memory_order_relaxed);
    end_ns_.store(MonotonicClock::now_ns(), std::memory_order_release);
  }

  [[nodiscard]] double cpu_seconds() const noexcept { return cpu_.seconds(); }
  /// All zero before begin().
  [[nodiscard]] ThreadUse use() const noexcept {
    const std::int64_t begin_ns = begin_ns_.load(std::memory_order_acquire);
    if (begin_ns == 0) {
      return {};
    }
    const std::int64_t end_ns = end_ns_.load(std::memory_order_acquire);
    const std::int64_t waited =
        end_ns != 0 ? waited_after_ns_.load(std::memory_order_relaxed) : live_waited_ns();
    const std::int64_t until_ns = end_ns != 0 ? end_ns : MonotonicClock::now_ns();
    ThreadUse use{seconds(until_ns - begin_ns), cpu_.seconds(), std::nullopt};
    if (waited != kUnknown) {
      use.wait_s = seconds(waited);
    }
    return use;
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  static double seconds(std::int64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

  [[nodiscard]] std::int64_t waited_ns(const char* path) const noexcept {
    const std::int64_t before = waited_before_ns_.load(std::memory_order_relaxed);
    const auto now = before == kUnknown ? std::nullopt : read_schedstat(path);
    return now ? *now - before : kUnknown;
  }
  [[nodiscard]] std::int64_t live_waited_ns() const noexcept {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/task/%ld/schedstat",
                  task_.load(std::memory_order_relaxed));
    return waited_ns(path.data());
  }

  ThreadCpuTime cpu_;
  std::atomic<long> task_{0};
  std::atomic<std::int64_t> begin_ns_{0};
  std::atomic<std::int64_t> end_ns_{0};
  std::atomic<std::int64_t> waited_before_ns_{kUnknown};
  std::atomic<std::int64_t> waited_after_ns_{kUnknown};
};

/// Sums the threads of one kind: `send` or `recv`.
class ThreadUseSum {
 public:
  /// `idle_s`: of its life, how long the thread slept in its own throttle.
  void add(const ThreadUse& use, double idle_s) {
    ++threads_;
    total_.elapsed_s += use.elapsed_s;
    total_.cpu_s += use.cpu_s;
    total_.wait_s =
        total_.wait_s && use.wait_s ? std::optional(*total_.wait_s + *use.wait_s) : std::nullopt;
    idle_s_ += idle_s;
    if (use.elapsed_s > 0) {
      busiest_share_ = std::max(busiest_share_, use.cpu_s / use.elapsed_s);
    }
  }

  /// `<kind>.{threads,elapsed_s,cpu_s,idle_s,busiest_cpu_share}`, and where the kernel counts the
  /// waiting `<kind>.{wait_s,blocked_s}`; blocked is the rest of the life time. Nothing without
  /// threads.
  void emit(const Sink& sink, const std::string& kind) const {
    if (threads_ == 0) {
      return;
    }
    sink.number(kind + ".threads", static_cast<double>(threads_));
    sink.number(kind + ".elapsed_s", total_.elapsed_s);
    sink.number(kind + ".cpu_s", total_.cpu_s);
    sink.number(kind + ".idle_s", idle_s_);
    sink.number(kind + ".busiest_cpu_share", busiest_share_);
    if (total_.wait_s) {
      const double rest = total_.elapsed_s - total_.cpu_s - *total_.wait_s - idle_s_;
      sink.number(kind + ".wait_s", *total_.wait_s);
      sink.number(kind + ".blocked_s", std::max(0.0, rest));
    }
  }

 private:
  std::size_t threads_ = 0;
  ThreadUse total_{0, 0, 0.0};
  double idle_s_ = 0;
  double busiest_share_ = 0;
};

}  // namespace netbench::sdk
