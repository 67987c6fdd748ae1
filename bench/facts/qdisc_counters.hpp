#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/facts/rtnetlink.hpp"

namespace netbench::facts {

/// Statistics of one queueing discipline (RTM_GETQDISC, TCA_STATS2; linux/gen_stats.h). All but
/// queued packets and backlog count up.
struct QdiscCounts {
  int interface_index = 0;
  std::uint32_t handle = 0;  // its classes are handle's upper half and a number
  std::uint32_t parent = 0;  // TC_H_ROOT, TC_H_INGRESS, or a class of another
  std::string kind;
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t drops = 0;
  std::uint64_t requeues = 0;
  std::uint64_t overlimits = 0;
  std::uint64_t backlog_bytes = 0;
  std::uint64_t queued_packets = 0;
};

/// One RTM_NEWQDISC message without its nlmsghdr; nothing where it has no statistics. Pure.
[[nodiscard]] std::optional<QdiscCounts> parse_qdisc_counts(ByteSpan body);

/// What the disciplines of one interface did together. Nothing where packets pass no queue
/// (noqueue, none).
struct QdiscTotals {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t drops = 0;
  std::uint64_t requeues = 0;
  std::uint64_t overlimits = 0;
  std::uint64_t backlog_bytes = 0;
  std::optional<std::uint64_t> ingress_drops;  // of an ingress or clsact discipline
};

/// Sending side: a root that has children counts what they count for some statistics and kinds and
/// not for others (net/sched/sch_api.c, qdisc_tree_reduce_backlog; sch_mq.c), so each number is the
/// larger of the root's and of the leaves' sum. Pure.
[[nodiscard]] std::optional<QdiscTotals> qdisc_totals(std::span<const QdiscCounts> of_interface);

/// Reads all disciplines of an interface. The seam for tests.
using QdiscReader = std::function<Result<std::vector<QdiscCounts>>()>;

/// The kernel's, in the network namespace of the calling thread; its socket lives as long as the
/// reader. Errors: `netlink`, `interface-unknown`.
[[nodiscard]] Result<QdiscReader> open_qdisc_reader(const std::string& interface);

}  // namespace netbench::facts
