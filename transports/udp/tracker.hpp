#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// A receiver's bookkeeping of one stream, pure.
namespace netbench::udp {

enum class Fate {
  fresh,      // the largest sequence so far
  reordered,  // smaller than one before, and new (RFC 4737 section 3)
  duplicate,
  late,  // behind the window: cannot be told from a duplicate, so it counts as lost
};

/// Tells new datagrams from duplicates, by a bitmap of the recent sequences that works like the
/// anti-replay window of RFC 4303 section 3.4.3 (RFC 6479 for its ring of words). Sequences begin
/// at 0. Always: unique() + duplicates() + late() = calls of note(), and unique() ≤ expected().
class SequenceTracker {
 public:
  static constexpr std::uint64_t kWindow = 4096;  // looks back over at least kWindow - 63

  Fate note(std::uint64_t sequence) noexcept;

  [[nodiscard]] std::uint64_t unique() const noexcept { return unique_; }
  [[nodiscard]] std::uint64_t reordered() const noexcept { return reordered_; }
  [[nodiscard]] std::uint64_t duplicates() const noexcept { return duplicates_; }
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }
  /// Datagrams that the sender has sent at least: the largest sequence and one.
  [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }

 private:
  static constexpr std::uint64_t kWordBits = 64;

  void advance_to(std::uint64_t sequence) noexcept;
  [[nodiscard]] bool mark(std::uint64_t sequence) noexcept;

  std::array<std::uint64_t, kWindow / kWordBits> words_{};
  std::uint64_t expected_ = 0;
  std::uint64_t unique_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t late_ = 0;
};

/// Interarrival jitter by RFC 3550 section 6.4.1: differences of differences, so that the two
/// clocks need not agree.
class Jitter {
 public:
  void note(std::int64_t arrived_ns, std::int64_t sent_ns) noexcept;

  /// The RFC's estimate, smoothed over about 16 datagrams.
  [[nodiscard]] double smoothed_ns() const noexcept { return smoothed_ns_; }
  /// Mean |D| of the whole run.
  [[nodiscard]] double mean_ns() const noexcept {
    return count_ == 0 ? 0.0 : sum_ns_ / static_cast<double>(count_);
  }

 private:
  std::int64_t transit_ns_ = 0;
  bool started_ = false;
  double smoothed_ns_ = 0;
  double sum_ns_ = 0;
  std::uint64_t count_ = 0;
};

/// Where the datagrams went that did not reach the receiver's thread once.
struct Losses {
  std::uint64_t network = 0;  // lost before the receiver's socket
  std::uint64_t socket = 0;   // dropped by the receiver's socket, for want of buffer
};

/// `socket_drops` is the kernel's count for the socket, which has duplicates and control datagrams
/// in it; so unique + network + socket = expected always, and each is ≥ 0.
[[nodiscard]] Losses split_losses(std::uint64_t expected, std::uint64_t unique,
                                  std::uint64_t socket_drops) noexcept;

}  // namespace netbench::udp
