#include "transports/udp/pacer.hpp"

#include <algorithm>
#include <cmath>

namespace netbench::udp {
namespace {

constexpr double kBurstNs = 5e6;
constexpr double kGroupNs = 1e5;
/// A slow schedule survives being late by less than one interval and a bit.
constexpr std::size_t kMinBurst = 2;

std::size_t datagrams_in(double duration_ns, double interval_ns, std::size_t limit) {
  const double count = std::min(duration_ns / interval_ns, static_cast<double>(limit));
  return std::max<std::size_t>(static_cast<std::size_t>(count), 1);
}

}  // namespace

Pacer::Plan Pacer::plan(double bits_per_second, std::int64_t message_bytes, std::size_t batch,
                        bool spin) noexcept {
  if (bits_per_second <= 0) {
    return {0, batch, batch};
  }
  const double interval_ns = static_cast<double>(message_bytes) * 8e9 / bits_per_second;
  const std::size_t group = spin ? 1 : datagrams_in(kGroupNs, interval_ns, batch / 2);
  const std::size_t burst = datagrams_in(kBurstNs, interval_ns, batch);
  return {interval_ns, std::min(std::max(burst, kMinBurst), batch), group};
}

std::size_t Pacer::allowed(std::int64_t now_ns) noexcept {
  if (plan_.interval_ns <= 0) {
    return plan_.burst;
  }
  if (!started_) {
    started_ = true;
    begin_ns_ = now_ns;
  }
  const double behind_ns = static_cast<double>(now_ns - begin_ns_) - next_ns_;
  if (behind_ns < 0) {
    return 0;
  }
  const double due = std::floor(behind_ns / plan_.interval_ns) + 1;
  const auto burst = static_cast<double>(plan_.burst);
  if (due <= burst) {
    return static_cast<std::size_t>(due);
  }
  const double given_up_ns = (due - burst) * plan_.interval_ns;
  next_ns_ += given_up_ns;
  lost_ns_ += given_up_ns;
  return plan_.burst;
}

std::int64_t Pacer::wake_ns() const noexcept {
  const double group_ns = static_cast<double>(plan_.group - 1) * plan_.interval_ns;
  return begin_ns_ + static_cast<std::int64_t>(std::ceil(next_ns_ + group_ns));
}

}  // namespace netbench::udp
