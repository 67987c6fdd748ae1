#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transports/rdma/gid_pair.hpp"
#include "transports/rdma/result.hpp"

/// What one end tells the other through the control channel before they connect.
namespace netbench::rdma {

struct QpAddress {
  std::uint32_t number = 0;  // 24 bits
  std::uint32_t psn = 0;     // 24 bits
  bool operator==(const QpAddress&) const = default;
};

struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t rkey = 0;
  bool operator==(const RemoteBuffer&) const = default;
};

struct EndAddress {
  GidOffer offer;
  std::uint8_t max_reads_out = 0;
  std::uint8_t max_reads_in = 0;
  std::uint16_t cm_port = 0;  // where this end listens with rdma_cm; 0: it does not
  std::vector<QpAddress> queue_pairs;
  std::vector<RemoteBuffer> buffers;
  std::vector<std::uint8_t> extra;  // the plug-in's own, at most 4 KiB
  bool operator==(const EndAddress&) const = default;
};

inline constexpr std::size_t kMaxGids = 256;
inline constexpr std::size_t kMaxQueuePairs = 4096;
inline constexpr std::size_t kMaxExtraBytes = 4096;

/// At most 64 KiB for up to kMaxQueuePairs queue pairs with one buffer for all. Where each queue
/// pair has its own buffer, up to 1024.
[[nodiscard]] std::vector<std::uint8_t> encode(const EndAddress& address);
/// `rdma-bad-address` for anything that encode() of this release does not write.
[[nodiscard]] Result<EndAddress> decode_end_address(std::span<const std::uint8_t> bytes);

}  // namespace netbench::rdma
