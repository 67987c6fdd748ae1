#include "transports/udp/tracker.hpp"

#include <algorithm>
#include <cstdlib>

namespace netbench::udp {

Fate SequenceTracker::note(std::uint64_t sequence) noexcept {
  if (sequence >= expected_) {
    advance_to(sequence);
    ++unique_;
    return Fate::fresh;
  }
  // The words hold the window whole only behind the word that is being filled.
  if (sequence / kWordBits + words_.size() <= (expected_ - 1) / kWordBits) {
    ++late_;
    return Fate::late;
  }
  if (!mark(sequence)) {
    ++duplicates_;
    return Fate::duplicate;
  }
  ++unique_;
  ++reordered_;
  return Fate::reordered;
}

void SequenceTracker::advance_to(std::uint64_t sequence) noexcept {
  const std::uint64_t word = sequence / kWordBits;
  // Words up to the one of expected_ - 1 are in use; at the beginning none is, and all are zero.
  const std::uint64_t first_new = expected_ == 0 ? 0 : (expected_ - 1) / kWordBits + 1;
  const std::uint64_t from =
      word >= words_.size() ? std::max(first_new, word - (words_.size() - 1)) : first_new;
  for (std::uint64_t fresh = from; fresh <= word; ++fresh) {
    words_[fresh % words_.size()] = 0;
  }
  expected_ = sequence + 1;
  (void)mark(sequence);
}

bool SequenceTracker::mark(std::uint64_t sequence) noexcept {
  std::uint64_t& word = words_[sequence / kWordBits % words_.size()];
  const std::uint64_t flag = std::uint64_t{1} << (sequence % kWordBits);
  const bool fresh = (word & flag) == 0;
  word |= flag;
  return fresh;
}

void Jitter::note(std::int64_t arrived_ns, std::int64_t sent_ns) noexcept {
  const std::int64_t transit_ns = arrived_ns - sent_ns;
  if (started_) {
    const double difference_ns = std::abs(static_cast<double>(transit_ns - transit_ns_));
    smoothed_ns_ += (difference_ns - smoothed_ns_) / 16;
    sum_ns_ += difference_ns;
    ++count_;
  }
  transit_ns_ = transit_ns;
  started_ = true;
}

Losses split_losses(std::uint64_t expected, std::uint64_t unique,
                    std::uint64_t socket_drops) noexcept {
  const std::uint64_t missing = expected > unique ? expected - unique : 0;
  const std::uint64_t socket = std::min(missing, socket_drops);
  return {missing - socket, socket};
}

}  // namespace netbench::udp
