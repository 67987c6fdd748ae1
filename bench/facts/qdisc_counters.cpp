#include "bench/facts/qdisc_counters.hpp"

#include <fmt/format.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace netbench::facts {

namespace {

/// TCA_STATS_PKT64 is newer than the oldest kernel headers this builds with (Linux 5.5).
constexpr std::uint16_t kPackets64 = 8;

// Without its padding, which some kernels leave out.
constexpr std::size_t kBasicBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);

void take_basic(ByteSpan statistics, QdiscCounts& counts) {
  const ByteSpan basic = find_attribute(statistics, TCA_STATS_BASIC);
  if (basic.size() >= kBasicBytes) {
    counts.bytes = header_of<std::uint64_t>(basic);
    counts.packets = header_of<std::uint32_t>(basic.subspan(sizeof(std::uint64_t)));
  }
  const ByteSpan packets = find_attribute(statistics, kPackets64);
  if (packets.size() >= sizeof(std::uint64_t)) {
    counts.packets = header_of<std::uint64_t>(packets);
  }
}

void take_queue(ByteSpan statistics, QdiscCounts& counts) {
  const auto queue = header_of<gnet_stats_queue>(find_attribute(statistics, TCA_STATS_QUEUE));
  counts.queued_packets = queue.qlen;
  counts.backlog_bytes = queue.backlog;
  counts.drops = queue.drops;
  counts.requeues = queue.requeues;
  counts.overlimits = queue.overlimits;
}

bool receives(const QdiscCounts& counts) { return counts.parent == TC_H_INGRESS; }

/// Whether none of the others hangs below it. The default mq of a device with several queues has
/// handle 0, and so have its children: they are leaves.
bool is_leaf(const QdiscCounts& counts, std::span<const QdiscCounts> all) {
  if (receives(counts) || counts.parent == TC_H_ROOT) {
    return false;
  }
  return counts.handle == 0 || std::ranges::none_of(all, [&](const QdiscCounts& other) {
           return !receives(other) && other.parent != TC_H_ROOT &&
                  TC_H_MAJ(other.parent) == TC_H_MAJ(counts.handle);
         });
}

}  // namespace

std::optional<QdiscCounts> parse_qdisc_counts(ByteSpan body) {
  const auto header = header_of<tcmsg>(body);
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  const ByteSpan statistics = find_attribute(attributes, TCA_STATS2);
  if (statistics.empty()) {
    return std::nullopt;
  }
  QdiscCounts counts;
  counts.interface_index = header.tcm_ifindex;
  counts.handle = header.tcm_handle;
  counts.parent = header.tcm_parent;
  counts.kind = attribute_string(attributes, TCA_KIND);
  take_basic(statistics, counts);
  take_queue(statistics, counts);
  return counts;
}

std::optional<QdiscTotals> qdisc_totals(std::span<const QdiscCounts> of_interface) {
  struct Pair {
    std::uint64_t QdiscCounts::*from;
    std::uint64_t QdiscTotals::*to;
  };
  static constexpr Pair kPairs[] = {{&QdiscCounts::bytes, &QdiscTotals::bytes},
                                    {&QdiscCounts::packets, &QdiscTotals::packets},
                                    {&QdiscCounts::drops, &QdiscTotals::drops},
                                    {&QdiscCounts::requeues, &QdiscTotals::requeues},
                                    {&QdiscCounts::overlimits, &QdiscTotals::overlimits},
                                    {&QdiscCounts::backlog_bytes, &QdiscTotals::backlog_bytes}};
  const auto root = std::ranges::find(of_interface, TC_H_ROOT, &QdiscCounts::parent);
  if (root == of_interface.end() || root->kind == "noqueue") {
    return std::nullopt;
  }
  QdiscTotals totals;
  for (const auto& [from, to] : kPairs) {
    std::uint64_t leaves = 0;
    for (const QdiscCounts& counts : of_interface) {
      leaves += is_leaf(counts, of_interface) ? counts.*from : 0;
    }
    totals.*to = std::max((*root).*from, leaves);
  }
  const auto ingress = std::ranges::find_if(of_interface, receives);
  if (ingress != of_interface.end()) {
    totals.ingress_drops = ingress->drops;
  }
  return totals;
}

Result<QdiscReader> open_qdisc_reader(const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) {
    return fail_errno("interface-unknown", fmt::format("queues of {}", interface), errno);
  }
  auto netlink = RtNetlink::open();
  if (!netlink) {
    return tl::unexpected(netlink.error());
  }
  auto socket = std::make_shared<RtNetlink>(std::move(*netlink));
  return [socket, index, interface]() -> Result<std::vector<QdiscCounts>> {
    tcmsg request{};
    request.tcm_family = AF_UNSPEC;
    request.tcm_ifindex = static_cast<int>(index);
    std::vector<std::uint8_t> body;
    append_header(body, request);
    const NetlinkReply reply = socket->talk(RTM_GETQDISC, NLM_F_DUMP, body);
    if (reply.error_number != 0) {
      return fail_errno("netlink", fmt::format("queues of {}", interface), reply.error_number);
    }
    std::vector<QdiscCounts> found;
    for (const NetlinkMessage& message : reply.messages) {
      auto counts = parse_qdisc_counts(message.body);
      // The kernel's dump is of all interfaces.
      if (counts && counts->interface_index == static_cast<int>(index)) {
        found.push_back(std::move(*counts));
      }
    }
    return found;
  };
}

}  // namespace netbench::facts
