#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/address.hpp"
#include "transports/sdk/cpus.hpp"
#include "transports/tcp/tables.hpp"

namespace netbench::tcp {

using sdk::Address;

/// The values of one point, as this end needs them. An absent optional is `auto`.
struct Options {
  nb_role role = NB_INITIATOR;
  WorkloadId workload = WorkloadId::latency;
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 0;
  std::int64_t deadline_ns = 0;  // for open and connect together, a duration
  Address peer;

  std::optional<std::int64_t> sndbuf;
  std::optional<std::int64_t> rcvbuf;
  std::optional<std::int64_t> mss;
  std::optional<std::int64_t> lowat;
  std::optional<std::int64_t> pacing_bps;
  std::optional<std::int64_t> read_rate_bps;   // of an end: all its streams together
  std::optional<std::int64_t> write_rate_bps;  // of an end: all its streams together
  std::optional<std::int64_t> busy_poll_ns;
  std::optional<std::string> congestion;
  std::optional<std::string> bind;
  bool nodelay = true;
  std::int64_t streams = 1;
  std::int64_t load = 0;
  std::int64_t rate_hz = 5000;
  std::int64_t writes = 1;
  std::int64_t dscp = 0;
  Wait wait = Wait::block;
  Mode mode = Mode::copy;
  Receive receive = Receive::copy;
  LoadDirection load_direction = LoadDirection::forward;
  std::string cpu_text;
  sdk::CpuList cpus;

  /// Data connections of the point.
  [[nodiscard]] std::int64_t connections() const;
  /// Whether this end sends, or receives, on the bulk streams.
  [[nodiscard]] bool sends_bulk() const;
  [[nodiscard]] bool receives_bulk() const;
  /// What each stream may take, or offer, in bits a second; nothing: as much as it can.
  [[nodiscard]] std::optional<std::int64_t> read_rate_of_stream() const;
  [[nodiscard]] std::optional<std::int64_t> write_rate_of_stream() const;
  /// CPU of the n-th thread, nothing where not pinned.
  [[nodiscard]] std::optional<int> cpu_of(std::size_t thread) const;
};

/// Reads validated arguments; throws NB_INVALID for a text that cannot be read.
[[nodiscard]] Options parse_options(const nb_open_args& args);

/// Legality on this host: descriptors, memory, CPUs, congestion control. Throws NB_INVALID.
void check_options(const Options& options);

}  // namespace netbench::tcp
