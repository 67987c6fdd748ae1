#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transports/sdk/host.hpp"

namespace netbench::tcp {

/// The kernel's TCP_INFO of one connection: read with a large buffer; only as many bytes are valid
/// as this kernel returned, so that older and newer kernels both work (tcp(7), linux/tcp.h).
class TcpInfo {
 public:
  /// Empty where the kernel refuses.
  [[nodiscard]] static TcpInfo read(int fd) noexcept;

  /// Nothing where this kernel's answer ends before the field.
  [[nodiscard]] std::optional<std::uint64_t> field(std::size_t offset,
                                                   std::size_t width) const noexcept;
  /// In-order payload bytes that arrived, read by the application or not (RFC 4898,
  /// tcpEStatsAppHCThruOctetsReceived).
  [[nodiscard]] std::optional<std::uint64_t> bytes_received() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> bytes_acked() const noexcept;
  /// Payload of a full segment that this end sends, options taken off.
  [[nodiscard]] std::optional<std::uint64_t> snd_mss() const noexcept;
  [[nodiscard]] bool has_timestamps() const noexcept;

 private:
  std::array<unsigned char, 512> bytes_{};
  std::size_t length_ = 0;
};

/// How a field of several connections becomes one number, and which moment of a stream tells.
enum class Over { sum, max, min, first };
enum class Kept {
  last,    // counts up: its value at the end
  median,  // a momentary value: its median while the stream runs
  range,   // the same, with its extremes
};

/// One field of struct tcp_info under its kernel's name.
struct TcpInfoField {
  const char* name;
  std::size_t offset;
  std::size_t width;
  Over over;
  Kept kept;
  unsigned shift = 0;
  std::uint64_t mask = UINT64_MAX;

  /// Nothing where no connection has it.
  [[nodiscard]] std::optional<double> over_all(std::span<const TcpInfo> infos) const;
};

/// All fields that are told, in the kernel's order.
[[nodiscard]] std::span<const TcpInfoField> tcp_info_fields();

}  // namespace netbench::tcp
