#pragma once

#include <time.h>

#include <concepts>
#include <cstdint>

namespace netbench::sdk {

/// Time source of the measuring loops: nanoseconds, never going back.
template <class C>
concept Clock = requires(C& clock) {
  { clock.now_ns() } -> std::same_as<std::int64_t>;
};

/// CLOCK_MONOTONIC, the clock of every real transport.
struct MonotonicClock {
  [[nodiscard]] static std::int64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  }
};

}  // namespace netbench::sdk
