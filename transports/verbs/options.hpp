#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transports/abi/nb_transport.h"
#include "transports/rdma/objects.hpp"
#include "transports/sdk/address.hpp"
#include "transports/sdk/cpus.hpp"
#include "transports/verbs/tables.hpp"

namespace netbench::verbs {

/// The values of one point, as this end needs them. An absent optional is `auto`.
struct Options {
  nb_role role = NB_INITIATOR;
  WorkloadId workload = WorkloadId::latency;
  nb_direction direction = NB_FORWARD;
  std::int64_t message_bytes = 8;
  std::int64_t deadline_ns = 0;
  std::uint64_t seed = 0;
  sdk::Address peer;
  sdk::Address local;

  Op op = Op::write;
  Qp qp = Qp::rc;
  Wait wait = Wait::adaptive;
  std::int64_t qps = 1;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> tx_depth;
  std::optional<std::int64_t> rx_depth;
  std::optional<std::int64_t> post_list;
  std::optional<std::int64_t> cq_moderation;
  std::optional<std::int64_t> inline_bytes;
  std::optional<std::int64_t> path_mtu;
  std::optional<std::int64_t> read_depth;
  std::optional<std::string> device;       // of this end
  std::optional<std::uint32_t> gid_index;  // of this end
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t ack_timeout = 0;
  std::uint8_t retries = 0;
  std::uint8_t rnr_retries = 0;
  bool huge_pages = false;
  bool relaxed_ordering = false;
  sdk::CpuList cpus;
  std::string cpu_text;
  std::optional<int> numa;

  [[nodiscard]] bool is_stream() const { return workload != WorkloadId::latency; }
  /// Of a stream: payload leaves or reaches this end.
  [[nodiscard]] bool sends_payload() const;
  [[nodiscard]] bool receives_payload() const;
  /// Whether this end posts the operations, and whether its peer does. A read is posted by the end
  /// that receives.
  [[nodiscard]] bool posts() const;
  [[nodiscard]] bool is_target() const;
  /// send and write_imm: they take a posted receive and complete at both ends.
  [[nodiscard]] bool two_sided() const { return op == Op::send || op == Op::write_imm; }
  [[nodiscard]] bool atomic() const { return op == Op::fetch_add || op == Op::compare_swap; }
  [[nodiscard]] bool reliable() const { return qp == Qp::rc; }
  [[nodiscard]] rdma::QpKind kind() const;
  [[nodiscard]] std::size_t lanes() const;
  /// CPU of the n-th thread, nothing where not pinned.
  [[nodiscard]] std::optional<int> cpu_of(std::size_t thread) const;
};

/// Reads validated arguments; throws NB_INVALID for a text that cannot be read.
[[nodiscard]] Options parse_options(const nb_open_args& args);

/// Legality across tunables, workload and size, and on this host. Throws NB_INVALID naming the
/// tunable.
void check_options(const Options& options);

}  // namespace netbench::verbs
