#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/address.hpp"
#include "transports/sdk/cpus.hpp"
#include "transports/udp/tables.hpp"

namespace netbench::udp {

using sdk::Address;

/// The values of one point, as this end needs them. An absent optional is `auto`.
struct Options {
  nb_role role = NB_INITIATOR;
  WorkloadId workload = WorkloadId::latency;
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 0;
  std::int64_t deadline_ns = 0;  // for open and connect together, a duration
  Address peer;
  Address local;

  std::optional<std::int64_t> rate_bps;
  std::optional<std::int64_t> sndbuf;
  std::optional<std::int64_t> rcvbuf;
  std::optional<std::string> bind;
  std::int64_t streams = 1;
  std::int64_t batch = 1;
  std::int64_t dscp = 0;
  bool gso = false;
  Wait wait = Wait::block;
  std::string cpu_text;
  sdk::CpuList cpus;

  [[nodiscard]] bool is_stream() const { return (bit(workload) & kStreams) != 0; }
  [[nodiscard]] std::size_t sockets() const {
    return is_stream() ? static_cast<std::size_t>(streams) : 1;
  }
  /// Whether this end sends, or receives, a stream.
  [[nodiscard]] bool sends() const;
  [[nodiscard]] bool receives() const;
  /// Datagrams of one system call: `batch`, less where their memory would pass 4 MiB.
  [[nodiscard]] std::size_t slots() const;
  /// CPU of the n-th thread, nothing where not pinned.
  [[nodiscard]] std::optional<int> cpu_of(std::size_t thread) const;
};

/// Reads validated arguments; throws NB_INVALID for a text that cannot be read.
[[nodiscard]] Options parse_options(const nb_open_args& args);

/// Legality on this host: descriptors and CPUs. Throws NB_INVALID.
void check_options(const Options& options);

}  // namespace netbench::udp
