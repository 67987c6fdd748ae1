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

/// Emits `tcp_info.<name>` over all connections: sums where additive, otherwise the maximum, the
/// minimum or the first, as the table in tcp_info.cpp says for each field.
void emit_tcp_info(std::span<const int> fds, const sdk::Sink& sink);

}  // namespace netbench::tcp
