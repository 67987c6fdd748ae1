#include "bench/facts/path_mtu.hpp"

#include <algorithm>

namespace netbench::facts {

std::int64_t mss_for_mtu(std::int64_t mtu_bytes, int family, bool timestamps) {
  constexpr std::int64_t kTcp = 20;
  constexpr std::int64_t kTimestamps = 12;
  const std::int64_t network = family == AF_INET6 ? 40 : 20;
  return std::max<std::int64_t>(1, mtu_bytes - network - kTcp - (timestamps ? kTimestamps : 0));
}

}  // namespace netbench::facts
