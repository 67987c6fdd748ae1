#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Measured on shaped links: a full one reads 0.99 of its ceiling, the next limit below 0.97.
constexpr double kFull = 0.97;
/// Above this the link rate or the model is wrong, not the link full.
constexpr double kBroken = 1.05;
/// A full wire makes any queueing discipline hold packets.
constexpr double kWireBehindQueue = 0.90;
/// Overlimits of packets sent, and bytes queued, from which a shaper is at work (measured: tbf at
/// its rate has one for every second packet; a queue that only passes on stays below).
constexpr double kShaped = 0.05;
constexpr double kQueuedBytes = 10'000;
/// What is left of a shaper's rate as payload: it counts Ethernet's header, not preamble and gap.
constexpr double kShaperShare = 1448.0 / 1514.0;
/// Queue drops of packets sent that cost TCP something.
constexpr double kDropShare = 1e-4;

constexpr std::array<std::string_view, 5> kShapers = {"tbf", "htb", "hfsc", "cake", "netem"};

bool is_shaper(const std::string& kind) {
  return std::ranges::find(kShapers, kind) != kShapers.end();
}

struct Queue {
  std::optional<double> overlimits;  // of packets
  std::optional<double> backlog_bytes;
  std::string kind;
  std::optional<double> rate_bps;
};

Queue queue_of(Look& look) {
  Queue queue;
  queue.overlimits = look.ratio(End::sender, "qdisc.*.overlimits", "qdisc.*.packets");
  queue.backlog_bytes = look.largest(End::sender, "qdisc_max.*.backlog_bytes");
  queue.kind = look.fact_text(End::sender, "qdisc.*.kind").value_or("");
  queue.rate_bps = look.fact(End::sender, "qdisc.*.rate_bps");
  return queue;
}

std::string text_of(const Queue& queue) {
  std::string text = queue.kind.empty() ? "queueing discipline" : queue.kind;
  if (queue.rate_bps) {
    text += " at " + format_bits_per_second(*queue.rate_bps);
  }
  text += queue.overlimits
              ? fmt::format(": overlimits {:.1f} % of packets", 100 * *queue.overlimits)
              : ": overlimits not known";
  if (queue.backlog_bytes) {
    text += fmt::format(", backlog up to {:.0f} B", *queue.backlog_bytes);
  }
  return text;
}

/// Goodput over what the shaper lets through, or 0.95 where its rate is not known: it held packets
/// back, so the path did not.
double nearness_of(Look& look, const Queue& queue) {
  const auto goodput = look.goodput_bps();
  if (!goodput || !queue.rate_bps || *queue.rate_bps <= 0) {
    return 0.95;
  }
  return std::min(1.0, *goodput / (*queue.rate_bps * kShaperShare));
}

Verdict shaped(Look& look, const Queue& queue) {
  const std::string device = look.interface(End::sender);
  const double near = nearness_of(look, queue);
  const bool at_rate = queue.rate_bps && near >= 0.9;
  return fires(at_rate || is_shaper(queue.kind) ? Confidence::likely : Confidence::possible, near,
               text_of(queue),
               fmt::format("{} sends through a shaper of its own ({}), which holds packets back",
                           device_of(look, End::sender), text_of(queue)),
               {on(look, End::sender, fmt::format("tc -s qdisc show dev {}", device)),
                on(look, End::sender, fmt::format("tc qdisc del dev {} root", device))});
}

}  // namespace

Verdict judge_link_full(Look& look) {
  const auto near = look.nearness("wire");
  if (!near) {
    return unknown("the wire's goodput is not known");
  }
  const std::string share = fmt::format("{:.1f} % of the wire's goodput", 100 * *near);
  if (*near > kBroken) {
    return unknown(share + ": more than the link rate allows, so that rate is not the wire's");
  }
  if (*near < kFull) {
    return silent(fmt::format("{}, below {:.0f} %", share, 100 * kFull));
  }
  return fires(Confidence::likely, std::min(1.0, *near), share,
               fmt::format("the link is full: {}", share),
               {"a faster link, more links in parallel, or less to send"});
}

Verdict judge_shaper(Look& look) {
  const Queue queue = queue_of(look);
  if (!queue.overlimits && !queue.backlog_bytes && queue.kind.empty()) {
    return unknown("the sender's queueing discipline was not watched");
  }
  if (queue.kind == "noqueue") {
    return silent("noqueue: nothing is held back before the device");
  }
  if (queue.overlimits.value_or(0) > kShaped) {
    return shaped(look, queue);
  }
  const bool queued = queue.backlog_bytes.value_or(0) > kQueuedBytes;
  const bool wire_behind = look.nearness("wire").value_or(0) >= kWireBehindQueue;
  if (queued && is_shaper(queue.kind) && !wire_behind) {
    return shaped(look, queue);
  }
  return queue.overlimits || queue.backlog_bytes
             ? silent(text_of(queue) + (queued ? ", as before a full or paced device" : ""))
             : unknown(text_of(queue));
}

// Linux's ena driver, "ethtool -S": packets shaped because the instance's allowance was used up
// (Amazon EC2 user guide, "Monitor network performance for ENA settings").
Verdict judge_cloud_allowance(Look& look) {
  return either_end(look, [](Look& at, End end) {
    const CounterSum exceeded = sum_counters(at, end, {{"ethtool.*.", "allowance_exceeded"}});
    if (!exceeded.read) {
      return unknown(fmt::format("{} has no driver counters", device_of(at, end)));
    }
    if (exceeded.total <= 0) {
      return silent(fmt::format("{}: no allowance exceeded", device_of(at, end)));
    }
    return fires(
        Confidence::likely, 0.95, fmt::format("{}: {}", device_of(at, end), exceeded.names),
        fmt::format("the cloud caps {}: {} packets were shaped by the instance's allowance",
                    device_of(at, end), exceeded.names),
        {"a larger instance type, or less traffic in bursts"});
  });
}

Verdict judge_queue_drops(Look& look) {
  const auto drops = look.total(End::sender, "qdisc.*.drops");
  const auto packets = look.total(End::sender, "qdisc.*.packets");
  if (!drops || !packets || *packets <= 0) {
    return unknown("the sender's queueing discipline was not watched");
  }
  const double share = *drops / *packets;
  const std::string why = fmt::format("{:.0f} of {:.0f} packets dropped before {} ({:.2g} %)",
                                      *drops, *packets, device_of(look, End::sender), 100 * share);
  if (share <= kDropShare) {
    return silent(why);
  }
  if (queue_of(look).overlimits.value_or(0) > kShaped) {
    return silent(why + "; the shaper that holds them back is the cause");
  }
  const std::string device = look.interface(End::sender);
  return fires(Confidence::likely, 0.6, why,
               fmt::format("the queue before {} overflows: {}", device_of(look, End::sender), why),
               {on(look, End::sender, fmt::format("tc qdisc replace dev {} root fq", device)),
                on(look, End::sender, fmt::format("ip link set dev {} txqueuelen 10000", device))});
}

}  // namespace netbench::report
