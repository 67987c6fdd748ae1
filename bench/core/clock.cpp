#include "bench/core/clock.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace netbench {

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string utc_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  ::gmtime_r(&now.tv_sec, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     now.tv_nsec / 1'000'000);
}

int Deadline::poll_timeout_ms() const {
  constexpr std::int64_t kLongestMs = 2'000'000'000;
  const std::int64_t left_ns = at_ns_ - monotonic_ns();
  return static_cast<int>(std::clamp<std::int64_t>((left_ns + 999'999) / 1'000'000, 0, kLongestMs));
}

Nanoseconds Deadline::left() const {
  return Nanoseconds(std::max<std::int64_t>(at_ns_ - monotonic_ns(), 0));
}

}  // namespace netbench
