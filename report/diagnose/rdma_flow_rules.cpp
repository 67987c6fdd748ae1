#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

using M = RdmaMeaning;

constexpr int kPriorities = 8;
/// A wire that is used more than this was not held back by much.
constexpr double kFullEnough = 0.9;
/// Share of the time under pause that is felt.
constexpr double kPauseShare = 0.01;
/// Share of bytes that makes a priority the one in use.
constexpr double kMostBytes = 0.9;

/// Bytes of every priority at an end: ethtool's tx_prio<n>_bytes of the interface (mlx5), either
/// way.
struct Priorities {
  std::array<double, kPriorities> bytes{};
  double total = 0;

  [[nodiscard]] int busiest() const {
    return static_cast<int>(std::ranges::max_element(bytes) - bytes.begin());
  }
  [[nodiscard]] bool is_one() const {
    return total > 0 && bytes.at(static_cast<std::size_t>(busiest())) >= kMostBytes * total;
  }
};

Priorities priorities_of(Look& look, End end) {
  Priorities found;
  const std::string interface =
      rail_text(look, end, rail_of(look, end), "interface").value_or(look.interface(end));
  for (int priority = 0; priority < kPriorities; ++priority) {
    for (const char* way : {"tx", "rx"}) {
      const std::string key = fmt::format("ethtool.{}.{}_prio{}_bytes", interface, way, priority);
      if (const auto bytes = look.total(end, key)) {
        found.bytes.at(static_cast<std::size_t>(priority)) += *bytes;
        found.total += *bytes;
      }
    }
  }
  return found;
}

std::optional<RdmaCount> lost_packets(Look& look) {
  const auto asked =
      rdma_count(look, requester(look), {M::ack_timeouts, M::sequence_naks, M::retransmits});
  if (asked && asked->total > 0) {
    return asked;
  }
  const auto answered = rdma_count(look, responder(look), {M::out_of_sequence});
  return answered && answered->total > 0 ? answered : std::nullopt;
}

std::string lossless_text(double mask) {
  std::string text;
  for (int priority = 0; priority < kPriorities; ++priority) {
    if ((static_cast<unsigned>(mask) >> static_cast<unsigned>(priority) & 1U) != 0) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", priority);
    }
  }
  return text.empty() ? "none" : text;
}

Verdict pauses_at(Look& look, End end) {
  const std::string interface =
      rail_text(look, end, rail_of(look, end), "interface").value_or(look.interface(end));
  const auto elapsed = look.elapsed_s(end);
  double paused_us = 0;
  std::string names;
  bool read = false;
  for (const auto& [key, total] : look.totals_below(end, fmt::format("ethtool.{}.", interface))) {
    read = true;
    const auto name = std::string_view(key).substr(key.rfind('.') + 1);
    if (name.ends_with("_pause_duration") && name.find("prio") != std::string_view::npos &&
        total > 0) {
      paused_us = std::max(paused_us, total);
      names += fmt::format("{}{} {:.0f} us", names.empty() ? "" : ", ", name, total);
      static_cast<void>(look.total(end, key));  // cites it
    }
  }
  const std::string name = rail_name(look, end, rail_of(look, end));
  if (!read || !elapsed) {
    return unknown(name + ": pauses are not counted");
  }
  const double share = paused_us * 1e-6 / *elapsed;
  const std::string why = fmt::format("{}: {} ({} of the time)", name,
                                      names.empty() ? "no pause" : names, percent(share));
  if (share <= kPauseShare) {
    return silent(why);
  }
  const bool sends = names.starts_with("tx") || names.find(", tx") != std::string::npos;
  return fires(
      Confidence::likely, std::min(1.0, 0.6 + share), why,
      fmt::format("{} {} by priority flow control: {}", name,
                  sends ? "holds the network back" : "is held back", why),
      {sends ? "its host takes data too slowly: the slot, the node of its buffers, PCIe "
               "stalls (outbound_pci_stalled_wr)"
             : "find the end or switch port that sends the pauses, and what is slow behind "
               "it"});
}

Verdict credits_at(Look& look, End end) {
  const std::string rail = rail_of(look, end);
  const std::string name = rail_name(look, end, rail);
  if (rail_text(look, end, rail, "link_layer") != "InfiniBand") {
    return silent(name + " is no InfiniBand link");
  }
  const auto waits = rdma_count(look, end, {M::credit_waits});
  const auto packets = rdma_count(look, end, {M::packets_left});
  if (!waits || !packets) {
    return unknown(name + ": waits for credits are not counted");
  }
  const std::string why = fmt::format(
      "{}: {:.3g} ticks with data and no credits, {:.3g} packets sent, {:.0f} % of the "
      "wire",
      name, waits->total, packets->total, 100 * look.nearness("wire").value_or(0));
  if (waits->total <= packets->total || look.nearness("wire").value_or(1) > kFullEnough) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.7, why,
               "the fabric gives this port too few credits: something behind it is congested or "
               "slow: " +
                   why,
               {"compare with an idle fabric: the unit of the ticks is the card's",
                "find the slow end: perfquery -x of every port on the way; another service level "
                "(--verbs.sl) or adaptive routing"});
}

}  // namespace

Verdict judge_rdma_priority(Look& look) {
  const auto lost = lost_packets(look);
  if (is_software(look)) {
    return silent("software RDMA knows no priorities");
  }
  if (!lost) {
    return silent("nothing was lost, so the class of the traffic does not matter");
  }
  const Priorities near = priorities_of(look, End::sender);
  const Priorities far = priorities_of(look, End::receiver);
  const Priorities& used = near.total > 0 ? near : far;
  if (!used.is_one()) {
    return unknown(lost->names + "; the priority of the traffic is not counted");
  }
  const End end = near.total > 0 ? End::sender : End::receiver;
  const auto mask = rail_fact(look, end, rail_of(look, end), "pfc_mask");
  const int priority = used.busiest();
  const std::string why = fmt::format("all bytes in priority {}, lossless {}: {}", priority,
                                      mask ? lossless_text(*mask) : "unknown", lost->names);
  if (mask && (static_cast<unsigned>(*mask) >> static_cast<unsigned>(priority) & 1U) != 0) {
    return silent(why + "; its priority is lossless");
  }
  return fires(mask ? Confidence::confirmed : Confidence::likely, 0.95, why,
               "the traffic does not run in a lossless class, and packets are dropped: " + why,
               {"put every queue pair into the lossless class: --verbs.traffic_class (DSCP x 4; of "
                "NCCL NCCL_IB_TC), and for rdma_cm its default type of service (cma_roce_tos)",
                fmt::format("on {}: mlnx_qos -i {} --trust dscp; the same on the switch",
                            look.host_name(end), look.interface(end))});
}

Verdict judge_rdma_congestion(Look& look) {
  const auto slowed = rdma_count(look, End::sender, {M::cnp_handled});
  const auto told = rdma_count(look, End::receiver, {M::cnp_sent, M::ecn_marked});
  if (!slowed && !told) {
    return unknown("congestion notifications are not counted");
  }
  const std::string why =
      fmt::format("{} {}; {} {}", look.host_name(End::sender),
                  slowed && slowed->total > 0 ? slowed->names : "none",
                  look.host_name(End::receiver), told && told->total > 0 ? told->names : "none");
  if ((slowed ? slowed->total : 0) + (told ? told->total : 0) <= 0) {
    return silent("no mark of congestion: " + why);
  }
  const double wire = look.nearness("wire").value_or(0);
  Verdict verdict =
      fires(wire > 0 ? Confidence::likely : Confidence::possible, 0.75, why,
            "the network marks packets of this row as congested, and the sender slows down: " + why,
            {"find who shares the path: many senders into one receiver, or flows hashed onto one "
             "link",
             "then the marking thresholds of the switch and the card's DCQCN parameters"});
  return wire > kFullEnough ? milder(std::move(verdict)) : std::move(verdict);
}

Verdict judge_rdma_pause(Look& look) { return either_end(look, pauses_at); }

Verdict judge_rdma_credits(Look& look) { return credits_at(look, End::sender); }

}  // namespace netbench::report
