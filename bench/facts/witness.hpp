#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// Addresses on which a TCP port is listened to, of /proc/net/tcp and tcp6 (proc(5)), as
/// "0.0.0.0:18550 [::1]:18550"; "" where none is. Pure.
[[nodiscard]] std::string listening_addresses(std::string_view tcp, std::string_view tcp6,
                                              std::uint16_t port);

/// What a host knows of a client that could not connect to it.
struct Witness {
  std::string listens_on;    // as above
  std::string way_back;      // interface by which answers would leave, "" where there is no route
  bool has_address = false;  // the address that was tried is one of this host
  // Since boot, of the whole network namespace: counters of Tcp and TcpExt in /proc/net.
  std::int64_t out_rsts = 0;
  std::int64_t listen_overflows = 0;
  std::int64_t reverse_path_drops = 0;
};

struct WitnessOptions {
  std::string client_address;  // numeric; "" where not known
  std::string address;         // numeric: what the client tried
  std::uint16_t port = 0;
  std::string root = "/";
};

/// [any-thread]; of the network namespace of the calling thread.
[[nodiscard]] Witness look_as_witness(const WitnessOptions& options, NetworkReader& network);

}  // namespace netbench::facts
