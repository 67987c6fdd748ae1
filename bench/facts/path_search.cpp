#include "bench/facts/path_search.hpp"

#include <algorithm>
#include <array>

namespace netbench::facts {

namespace {

constexpr std::int64_t kVolleyBytes = 128 * 1024;  // fits a default receive buffer of 208 KiB
constexpr std::int64_t kMostSizes = 14;

// 1500 with its successor, since that pair answers at once; PPPoE 1492, GRE 1476, VXLAN 1450,
// WireGuard 1420, IPsec 1400; InfiniBand 4092; jumbo 9000 and clouds' 8900.
constexpr std::array<std::int64_t, 12> kFirstSizes{1280, 1400, 1420, 1450, 1476, 1492,
                                                   1500, 1501, 4092, 8900, 9000, 9001};

}  // namespace

std::vector<std::int64_t> PathSearch::next_volley() const {
  std::set<std::int64_t> sizes;
  if (finished()) {
    return {};
  }
  const std::int64_t low = std::max(passed_bytes_ + 1, floor_bytes_);
  const std::int64_t high = lost_bytes_ - 1;
  if (passed_bytes_ == 0) {
    sizes.insert({low, high});
    sizes.insert(kFirstSizes.begin(), kFirstSizes.end());
  } else {
    const std::int64_t most = std::clamp(kVolleyBytes / high, std::int64_t{2}, kMostSizes);
    for (std::int64_t i = 1; i <= most; ++i) {
      sizes.insert(low - 1 + (high - low + 1) * i / most);
    }
  }
  if (icmp_mtu_bytes_ != 0) {
    sizes.insert({icmp_mtu_bytes_, icmp_mtu_bytes_ + 1});
  }
  std::erase_if(sizes, [&](std::int64_t bytes) { return bytes < low || bytes > high; });
  return {sizes.begin(), sizes.end()};
}

void PathSearch::passed(std::int64_t bytes) {
  passed_bytes_ = std::max(passed_bytes_, bytes);
  if (passed_bytes_ >= lost_bytes_) {
    lost_bytes_ = ceiling_bytes_ + 1;
  }
}

void PathSearch::lost(std::int64_t bytes) {
  if (bytes > passed_bytes_) {
    lost_bytes_ = std::min(lost_bytes_, bytes);
  }
}

}  // namespace netbench::facts
