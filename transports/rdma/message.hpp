#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

/// Messages that can be checked: a body by seed and a sequence number at the end, where a NIC that
/// writes in order puts it last.
namespace netbench::rdma {

/// Bytes of the sequence in a message of this size: all 8, or as many as there are.
[[nodiscard]] constexpr std::size_t sequence_bytes(std::size_t message_bytes) {
  return message_bytes < 8 ? message_bytes : 8;
}

/// What of `sequence` a message of this size can carry.
[[nodiscard]] constexpr std::uint64_t carried(std::uint64_t sequence, std::size_t message_bytes) {
  return message_bytes >= 8 ? sequence : sequence & ((std::uint64_t{1} << (8 * message_bytes)) - 1);
}

/// Writes the sequence into the last bytes, little-endian. [io-thread]
inline void stamp(std::byte* message, std::size_t bytes, std::uint64_t sequence) noexcept {
  if (bytes >= 8) [[likely]] {
    std::memcpy(message + bytes - 8, &sequence, 8);
  } else {
    std::memcpy(message, &sequence, bytes);
  }
}

/// The sequence in the last bytes, as carried(). [io-thread]
[[nodiscard]] inline std::uint64_t stamped(const std::byte* message, std::size_t bytes) noexcept {
  std::uint64_t sequence = 0;
  if (bytes >= 8) [[likely]] {
    std::memcpy(&sequence, message + bytes - 8, 8);
  } else {
    std::memcpy(&sequence, message, bytes);
  }
  return sequence;
}

/// As stamped(), of memory that the NIC writes meanwhile: loads that the compiler neither moves nor
/// keeps, before whatever is read next. While a message arrives the value may be of neither
/// message: compare it with the one that is expected. [io-thread]
[[nodiscard]] inline std::uint64_t peek_sequence(const std::byte* message,
                                                 std::size_t bytes) noexcept {
  const std::size_t length = sequence_bytes(bytes);
  const std::byte* from = message + bytes - length;
  std::uint64_t sequence = 0;
  if (length == 8 && reinterpret_cast<std::uintptr_t>(from) % 8 == 0) [[likely]] {
    sequence = *reinterpret_cast<const volatile std::uint64_t*>(from);
  } else {
    const volatile std::byte* at = from;
    for (std::size_t i = 0; i < length; ++i) {
      sequence |= static_cast<std::uint64_t>(at[i]) << (8 * i);
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return sequence;
}

/// The body of all messages of a seed: byte i of the message is byte i of one pseudo-random
/// sequence (splitmix64, S. Vigna), so that shifted, mixed and stale data differ.
void fill_pattern(std::span<std::byte> body, std::uint64_t seed) noexcept;

struct Mismatch {
  std::size_t offset = 0;  // of the first wrong byte
  std::byte expected{};
  std::byte found{};
  std::size_t wrong_bytes = 0;
};
/// Compares a body with the pattern. Nothing where all is right.
[[nodiscard]] std::optional<Mismatch> compare_pattern(std::span<const std::byte> body,
                                                      std::uint64_t seed) noexcept;
[[nodiscard]] std::string text_of(const Mismatch& mismatch);

/// Which messages are compared whole: the first, and then one of `every`. [io-thread]
class Sampler {
 public:
  explicit Sampler(std::uint64_t every) : every_(every < 1 ? 1 : every) {}
  [[nodiscard]] bool due() noexcept {
    if (--left_ != 0) [[likely]] {
      return false;
    }
    left_ = every_;
    return true;
  }

 private:
  std::uint64_t every_;
  std::uint64_t left_ = 1;
};
/// A distance between compared messages at which checking costs about a hundredth of moving them:
/// 64..4096.
[[nodiscard]] std::uint64_t sampling_distance(std::size_t message_bytes);

}  // namespace netbench::rdma
