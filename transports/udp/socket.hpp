#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "transports/sdk/error.hpp"
#include "transports/sdk/host.hpp"
#include "transports/sdk/sockets.hpp"
#include "transports/udp/options.hpp"

/// One connected UDP socket: ownership, options, what the kernel says about it, errors.
namespace netbench::udp {

using sdk::family_of;
using sdk::Fd;

/// How long a blocked call lasts before its thread looks whether it is to end.
inline constexpr std::int64_t kSliceNs = 20'000'000;

/// A socket of the initiator, connected to the agent's port, with all options. Throws.
[[nodiscard]] Fd make_socket(const Options& options);
/// The options of a connected socket, of either end. Throws NB_FAILED naming the tunable.
void apply_options(int fd, const Options& options);

/// The path MTU that the kernel assumes for a connected socket (IP_MTU, ip(7)); 0 where unknown.
[[nodiscard]] std::int64_t path_mtu_bytes(int fd);
/// IP packets that carry one datagram over a path of this MTU; 1 where the MTU is not known.
/// Fragments carry multiples of 8 bytes (RFC 791 section 3.2; RFC 8200 section 4.5).
[[nodiscard]] std::int64_t fragments_per_datagram(std::int64_t payload_bytes,
                                                  std::int64_t mtu_bytes, int family);
/// Cuts sends into datagrams of `message_bytes` (UDP_SEGMENT, udp(7)); false where the kernel or
/// the path MTU does not allow it.
[[nodiscard]] bool enable_gso(int fd, std::int64_t message_bytes);

/// The effective value of `sndbuf` or `rcvbuf` of a socket, capped where the kernel gave less than
/// was asked for.
void tell_buffer(int fd, const char* name, std::optional<std::int64_t> asked,
                 sdk::EffectiveSink sink);

/// The kernel's count of datagrams that a socket dropped (SO_MEMINFO, sock_diag(7)): its buffer was
/// full, or a checksum was wrong. [any-thread]
class SocketDrops {
 public:
  /// Drops since the first call. The kernel's count has 32 bits: to be called before it wraps
  /// twice.
  std::uint64_t read(int fd);

 private:
  std::mutex mutex_;
  std::optional<std::uint32_t> last_;
  std::uint64_t total_ = 0;
};

/// ECONNREFUSED is NB_PEER_CLOSED: an ICMP message said that nobody has the port any more.
[[nodiscard]] sdk::Error broken_socket(int sys_errno);

}  // namespace netbench::udp
