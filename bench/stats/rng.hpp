#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace netbench::stats {

/// Seeded generator xoshiro256** 1.0 with its state filled by splitmix64 (Blackman & Vigna,
/// prng.di.unimi.it), so that orders and resamples do not depend on the standard library. Not for
/// cryptography. Copyable value; one thread at a time.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept;

  /// 64 uniform bits.
  [[nodiscard]] std::uint64_t next() noexcept;

  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform() noexcept;

  /// Uniform in 0 … bound-1 without bias (Lemire, ACM TOMACS 29 (2019)); 0 for bound 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept;

  /// Standard normal (Marsaglia's polar method).
  [[nodiscard]] double normal() noexcept;

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Fisher–Yates shuffle; the same order for the same seed and length on every platform.
template <class T>
void shuffle(std::span<T> items, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t i = items.size(); i > 1; --i) {
    using std::swap;
    swap(items[i - 1], items[static_cast<std::size_t>(rng.below(i))]);
  }
}

}  // namespace netbench::stats
