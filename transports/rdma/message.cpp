#include "transports/rdma/message.hpp"

#include <algorithm>

namespace netbench::rdma {
namespace {

constexpr std::size_t kWordBytes = 8;

/// Word `index` of splitmix64's sequence (S. Vigna, public domain): any word without those before.
std::uint64_t word(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The wrong bytes of one word, added to `found`.
void compare_word(std::span<const std::byte> part, std::uint64_t expected, std::size_t offset,
                  std::optional<Mismatch>& found) noexcept {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto want = static_cast<std::byte>(expected >> (8 * i));
    if (part[i] == want) {
      continue;
    }
    if (!found) {
      found = Mismatch{offset + i, want, part[i], 0};
    }
    ++found->wrong_bytes;
  }
}

}  // namespace

void fill_pattern(std::span<std::byte> body, std::uint64_t seed) noexcept {
  for (std::size_t at = 0; at < body.size(); at += kWordBytes) {
    const std::uint64_t value = word(seed, at / kWordBytes);
    std::memcpy(body.data() + at, &value, std::min(kWordBytes, body.size() - at));
  }
}

std::optional<Mismatch> compare_pattern(std::span<const std::byte> body,
                                        std::uint64_t seed) noexcept {
  std::optional<Mismatch> found;
  for (std::size_t at = 0; at < body.size(); at += kWordBytes) {
    const std::size_t length = std::min(kWordBytes, body.size() - at);
    const std::uint64_t expected = word(seed, at / kWordBytes);
    if (std::memcmp(body.data() + at, &expected, length) != 0) [[unlikely]] {
      compare_word(body.subspan(at, length), expected, at, found);
    }
  }
  return found;
}

std::string text_of(const Mismatch& mismatch) {
  return std::to_string(mismatch.wrong_bytes) + " wrong bytes, the first at offset " +
         std::to_string(mismatch.offset) + ": " +
         std::to_string(std::to_integer<unsigned int>(mismatch.found)) + " instead of " +
         std::to_string(std::to_integer<unsigned int>(mismatch.expected));
}

std::uint64_t sampling_distance(std::size_t message_bytes) {
  constexpr std::uint64_t kBytesPerStep = 256;
  return std::clamp<std::uint64_t>(message_bytes / kBytesPerStep, 64, 4096);
}

}  // namespace netbench::rdma
