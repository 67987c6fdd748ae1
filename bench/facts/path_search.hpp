#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace netbench::facts {

/// Search for the largest packet that passes one way, many sizes at a time: each volley of sizes
/// narrows the gap between the largest that passed and the smallest above it that was lost. Pure.
class PathSearch {
 public:
  /// Sizes from `floor_bytes` to `ceiling_bytes` (the MTU of the interface) of whole IP packets.
  PathSearch(std::int64_t floor_bytes, std::int64_t ceiling_bytes)
      : floor_bytes_(floor_bytes), ceiling_bytes_(ceiling_bytes), lost_bytes_(ceiling_bytes + 1) {}

  /// Sizes to try next, ascending; empty when the answer is known. The first volley holds the ends,
  /// 1500, 9000 and common tunnel MTUs; later ones divide the gap evenly, and hold what ICMP named.
  [[nodiscard]] std::vector<std::int64_t> next_volley() const;

  /// Came through. An earlier loss at or below it was chance: what lies above is open again.
  void passed(std::int64_t bytes);
  /// Lost in every try. Ignored where a larger one passed: that was chance.
  void lost(std::int64_t bytes);
  void icmp_named(std::int64_t mtu_bytes) { icmp_mtu_bytes_ = mtu_bytes; }

  [[nodiscard]] std::int64_t largest_bytes() const { return passed_bytes_; }  // 0: none
  [[nodiscard]] std::int64_t smallest_lost_bytes() const { return lost_bytes_; }
  [[nodiscard]] std::int64_t ceiling_bytes() const { return ceiling_bytes_; }
  [[nodiscard]] std::int64_t icmp_mtu_bytes() const { return icmp_mtu_bytes_; }  // 0: none
  [[nodiscard]] bool finished() const {
    return lost_bytes_ <= passed_bytes_ + 1 || nothing_passes();
  }

 private:
  [[nodiscard]] bool nothing_passes() const { return lost_bytes_ <= floor_bytes_; }

  std::int64_t floor_bytes_;
  std::int64_t ceiling_bytes_;
  std::int64_t passed_bytes_ = 0;
  std::int64_t lost_bytes_;
  std::int64_t icmp_mtu_bytes_ = 0;
};

}  // namespace netbench::facts
