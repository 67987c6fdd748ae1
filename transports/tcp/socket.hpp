#pragma once

#include <cstdint>
#include <string>

#include "transports/sdk/error.hpp"
#include "transports/sdk/sockets.hpp"
#include "transports/tcp/options.hpp"

/// One TCP socket: ownership, options, errors.
namespace netbench::tcp {

using sdk::Fd;
using sdk::get_option;
using sdk::kDefaultDeadlineNs;
using sdk::set_option;
using sdk::try_set;

/// No byte moved for this long: the peer is taken to be gone.
inline constexpr std::int64_t kStallLimitNs = 10'000'000'000;

/// Throws NB_INVALID where the kernel has no such congestion control or does not allow it.
void set_congestion(int fd, const std::string& name);
/// Name of the socket's congestion control, empty where unknown.
[[nodiscard]] std::string congestion_of(int fd);

/// What has to be in place before the handshake: receive buffer and MSS decide the SYN, congestion
/// control the first window. On the initiator's socket, and on the responder's borrowed listener.
void apply_before_connect(int fd, const Options& options);

/// Everything else, on a connected socket of either end.
void apply_connected(int fd, const Options& options);

/// A new socket with bind, dscp and the options before the connection. Throws.
[[nodiscard]] Fd make_socket(const Options& options);

[[nodiscard]] sdk::Error too_many_streams(std::int64_t connections, std::int64_t needed,
                                          std::int64_t limit);
/// The error of a failed connect() to `peer`.
[[nodiscard]] sdk::Error connect_error(const Address& peer, int sys_errno);
/// The error of a connection that broke while in use.
[[nodiscard]] sdk::Error broken_connection(int sys_errno);

}  // namespace netbench::tcp
