#pragma once

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/error.hpp"

namespace netbench::sdk {

/// CPU numbers in the order written; empty: not pinned.
using CpuList = std::vector<int>;

namespace detail {

/// A CPU number at the front of `text`, which is cut off; throws NB_INVALID.
inline int take_cpu(std::string_view& text, std::string_view whole) {
  int cpu = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || cpu < 0 || cpu >= CPU_SETSIZE) {
    throw invalid("cpu", "\"" + std::string(whole) + "\" is not a CPU list",
                  "write CPU numbers as 0+2 or 0-3, initiator:responder as 0:1");
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return cpu;
}

}  // namespace detail

/// "0+2", "0-3", "0-3+8"; "" and "auto" give the empty list. Throws NB_INVALID.
[[nodiscard]] inline CpuList parse_cpu_list(std::string_view text) {
  CpuList cpus;
  std::string_view rest = text == "auto" ? std::string_view() : text;
  while (!rest.empty()) {
    const int first = detail::take_cpu(rest, text);
    int last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = detail::take_cpu(rest, text);
    }
    for (int cpu = first; cpu <= last; ++cpu) {
      cpus.push_back(cpu);
    }
    if (last < first || (!rest.empty() && !rest.starts_with('+')) || rest == "+") {
      throw invalid("cpu", "\"" + std::string(text) + "\" is not a CPU list",
                    "write CPU numbers as 0+2 or 0-3, initiator:responder as 0:1");
    }
    rest.remove_prefix(rest.empty() ? 0 : 1);
  }
  return cpus;
}

/// This end's part of "I" (both ends) or "I:R".
[[nodiscard]] inline CpuList cpus_of_role(std::string_view text, nb_role role) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return parse_cpu_list(text);
  }
  const CpuList initiator = parse_cpu_list(text.substr(0, colon));
  const CpuList responder = parse_cpu_list(text.substr(colon + 1));
  return role == NB_INITIATOR ? initiator : responder;
}

/// Throws NB_INVALID where this process may not run on one of them (offline, absent, cpuset).
inline void require_usable(const CpuList& cpus) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (cpus.empty() || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  for (const int cpu : cpus) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
      throw invalid("cpu", "CPU " + std::to_string(cpu) + " is not available to this process",
                    "see Cpus_allowed_list in /proc/self/status");
    }
  }
}

/// Binds the calling thread to one CPU; false where the kernel refuses.
inline bool pin_this_thread(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/// Pins the calling thread for the scope's length; does nothing without a CPU.
class ScopedPin {
 public:
  explicit ScopedPin(std::optional<int> cpu) noexcept {
    if (cpu && pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0) {
      pinned_ = pin_this_thread(*cpu);
    }
  }
  ScopedPin(const ScopedPin&) = delete;
  ScopedPin& operator=(const ScopedPin&) = delete;
  ~ScopedPin() {
    if (pinned_) {
      pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
    }
  }

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

/// CPU time of one thread (user and system, CLOCK_THREAD_CPUTIME_ID), readable by other threads
/// while it runs and after it has ended.
class ThreadCpuTime {
 public:
  /// From the thread itself, when its work begins; may be called for several stretches.
  void begin() noexcept {
    clockid_t id{};
    if (pthread_getcpuclockid(pthread_self(), &id) == 0) {
      start_ns_.store(read(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
      clock_.store(id, std::memory_order_release);
    }
  }
  /// From the thread itself, when its work has ended.
  void end() noexcept {
    const std::int64_t spent =
        read(CLOCK_THREAD_CPUTIME_ID) - start_ns_.load(std::memory_order_relaxed);
    clock_.store(kNone, std::memory_order_release);
    total_ns_.fetch_add(spent, std::memory_order_relaxed);
  }
  [[nodiscard]] double seconds() const noexcept {
    const std::int64_t before = total_ns_.load(std::memory_order_relaxed);
    const clockid_t id = clock_.load(std::memory_order_acquire);
    const std::int64_t now = id == kNone ? 0 : read(id);
    const std::int64_t live = now == 0 ? 0 : now - start_ns_.load(std::memory_order_relaxed);
    return static_cast<double>(before + live) * 1e-9;
  }

 private:
  static constexpr clockid_t kNone = CLOCK_REALTIME;  // never a thread's clock

  static std::int64_t read(clockid_t id) noexcept {
    timespec now{};
    return clock_gettime(id, &now) == 0 ? now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec
                                        : 0;
  }

  std::atomic<clockid_t> clock_{kNone};
  std::atomic<std::int64_t> start_ns_{0};
  std::atomic<std::int64_t> total_ns_{0};
};

}  // namespace netbench::sdk
