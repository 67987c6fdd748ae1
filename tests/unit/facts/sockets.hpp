#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "bench/core/unique_fd.hpp"

namespace netbench::facts {

/// The socket address of a numeric address.
[[nodiscard]] sockaddr_storage address_of(const std::string& address, std::uint16_t port,
                                          socklen_t& bytes);

/// Sockets in the namespace of the calling thread; a failure fails the test.
[[nodiscard]] UniqueFd tcp_listener(const std::string& address, std::uint16_t port,
                                    int mss_bytes = 0);
[[nodiscard]] UniqueFd tcp_connect(const std::string& address, std::uint16_t port,
                                   int mss_bytes = 0);
[[nodiscard]] UniqueFd udp_bound(const std::string& address, std::uint16_t port);

void send_bytes(int socket, std::int64_t bytes);
/// Reads until that many or the end; how many came.
[[nodiscard]] std::int64_t receive_bytes(int socket, std::int64_t bytes);

}  // namespace netbench::facts
