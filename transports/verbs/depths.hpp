#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "transports/verbs/options.hpp"

/// How deep the queues of one queue pair are, and where its messages lie. Pure.
namespace netbench::verbs {

/// All messages under way in one direction, over all queue pairs: beyond the bandwidth-delay
/// product of 400 Gbit/s × 100 us, larger than a core's own caches, and still done within a second
/// on the slowest software device.
inline constexpr std::size_t kWorkingSetBytes = std::size_t{8} << 20;

/// Global routing header in front of a received datagram (ibv_post_recv(3)).
inline constexpr std::size_t kGrhBytes = 40;

/// Work requests of one queue pair. `depth` is a whole number of `interval`s, an interval of
/// `chain`s.
struct Depths {
  std::uint32_t depth = 1;          // send requests under way
  std::uint32_t interval = 1;       // send requests to one completion: the unit of flow control
  std::uint32_t chain = 1;          // send requests to one doorbell
  std::uint32_t receives = 0;       // posted; 0 where the operation takes none
  std::uint32_t receive_chunk = 1;  // receives posted again at once; divides `receives`
  std::string depth_note;           // where less than was asked for
  std::string receives_note;
};

/// What a port and the peer allow.
struct DepthLimits {
  std::uint32_t work_requests = 16384;  // of one queue of this device
  std::uint32_t peer_slots = 0;         // messages the peer has room for; 0: not known yet
};
[[nodiscard]] Depths plan_depths(const Options& options, const DepthLimits& limits);

/// Bytes of one lane: control words, slots that the peer writes to, slots that this end sends from.
/// The end of a message is 8-byte aligned, so that its sequence can be polled in one load.
struct Layout {
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kControlBytes = kPageBytes;
  static constexpr std::size_t kToldOffset = 0;     // messages the peer says it wrote
  static constexpr std::size_t kCellOffset = 8;     // target of the peer's atomics
  static constexpr std::size_t kRecordOffset = 64;  // what this end tells the peer
  static constexpr std::size_t kRecords = 64;       // 8 bytes each

  std::size_t message_bytes = 0;
  std::size_t header_bytes = 0;  // kGrhBytes in front of received datagrams
  std::size_t stride = 0;
  std::uint32_t in_slots = 0;
  std::uint32_t out_slots = 0;

  [[nodiscard]] std::size_t lane_bytes() const {
    const std::size_t slots = stride * (std::size_t{in_slots} + out_slots);
    return kControlBytes + (slots + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  /// Offset of the message of a slot in its lane.
  [[nodiscard]] std::size_t in_message(std::uint32_t slot) const {
    return kControlBytes + stride * slot + lead();
  }
  [[nodiscard]] std::size_t out_message(std::uint32_t slot) const {
    return in_message(in_slots + slot);
  }

 private:
  [[nodiscard]] std::size_t lead() const { return stride - message_bytes; }
};
[[nodiscard]] Layout plan_layout(const Options& options, const Depths& depths);

}  // namespace netbench::verbs
