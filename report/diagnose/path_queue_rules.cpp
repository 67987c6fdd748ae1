#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bench/core/units.hpp"
#include "report/diagnose/path_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

// Measured: a remote token bucket of 100 Mb/s turns 5 us into 55 ms, whatever the number of
// streams; CPUs that others use turn 1 us into at most 7 ms.
constexpr double kQueue_us = 4'000;
constexpr double kQueueOfSmallest = 2;
constexpr double kHeldBack = 0.3;
constexpr double kBlocked = 0.85;
constexpr double kWaits = 0.25;
/// Cores that the traffic keeps busy at an end, from which the queue may be the host's own.
constexpr double kHostBound = 0.7;
constexpr double kScales = 1.3;
constexpr double kNear = 0.9;
/// Bytes of others on the interface, of ours.
constexpr double kForeign = 0.05;
constexpr double kForeignMuch = 0.2;
/// Bytes of a frame beside its payload as interfaces count them (Ethernet 14, IPv6 40, TCP with
/// timestamps 32), and what they take at most where packets were not counted.
constexpr double kHeaderBytes = 86;
constexpr double kHeaderShare = 0.12;
constexpr double kReordered = 1e-2;
constexpr double kAcksLost = 0.01;

/// Why the queue would not be the path's, or nothing.
std::optional<std::string> queue_is_elsewhere(Look& look, const RoundTrip& trip) {
  if (const auto window = window_share(look); window && *window >= kHeldBack) {
    return fmt::format("the window held the sender back {} of the busy time", percent(*window));
  }
  if (shaped_at_the_sender(look)) {
    return "the sender's own queueing discipline holds packets back";
  }
  for (const std::string_view bound : {"wire", "pacing"}) {
    if (const auto near = look.nearness(bound); near && *near > kNear) {
      return fmt::format("{:.2f} of the {}", *near, bound);
    }
  }
  const double queued_bytes = look.goodput_bps().value_or(0) / 8 * trip.queued_us() * 1e-6;
  const auto own = look.typical(End::sender, "qdisc.*.backlog_bytes");
  return own && *own > queued_bytes / 2
             ? std::optional(fmt::format("{:.0f} kB wait before the sender's device", *own / 1e3))
             : std::nullopt;
}

/// What an end does that lengthens a round trip by itself.
std::optional<std::string> end_is_busy(Look& look, End end) {
  const auto blocked = blocked_share(look, end);
  if (blocked && *blocked < kBlocked) {
    return fmt::format("{} was blocked only {} of the time", look.host_name(end),
                       percent(*blocked));
  }
  const auto waiting = waiting_share(look, end);
  if (waiting && *waiting > kWaits) {
    return fmt::format("{} waited for a CPU {} of the time", look.host_name(end),
                       percent(*waiting));
  }
  const auto cores = work_in_cores(look, end);
  return cores && *cores > kHostBound
             ? std::optional(fmt::format("the traffic keeps {:.1f} cores of {} busy", *cores,
                                         look.host_name(end)))
             : std::nullopt;
}

bool stands(const RoundTrip& trip) {
  return trip.queued_us() > std::max(kQueue_us, kQueueOfSmallest * trip.smallest_us);
}

std::string queue_text(const RoundTrip& trip) {
  return fmt::format("round trip {}, smallest {}", milliseconds(trip.smoothed_us),
                     milliseconds(trip.smallest_us));
}

/// Bytes a second of others that the receiving interface saw, of ours; 0 where ours explain all.
std::optional<double> foreign_share(Look& look) {
  const auto all = look.total(End::receiver, "if.*.rx_bytes");
  const auto ours = look.total(End::receiver, "payload.received_bytes");
  if (!all || !ours || *ours <= 0) {
    return std::nullopt;
  }
  const auto packets = look.total(End::receiver, "if.*.rx_packets");
  const double headers = packets && *packets > 0 ? kHeaderBytes * *packets : kHeaderShare * *ours;
  return std::max(0.0, (*all - headers) / *ours - 1);
}

/// The smallest round trip of the stream, of the idle path's as the latency rows have it: it is
/// taken before the stream has filled any queue, so others have.
std::optional<double> base_of_idle(Look& look) {
  const auto trip = round_trip(look);
  std::optional<double> idle_us;
  for (const Measurement& row : look.document().measurements) {
    if (row.transport == "tcp" && row.workload == "latency" && row.summary.rtt_min_ns) {
      idle_us = std::min(idle_us.value_or(1e12), *row.summary.rtt_min_ns / 1e3);
    }
  }
  return trip && idle_us && *idle_us > 0 ? std::optional(trip->smallest_us / *idle_us)
                                         : std::nullopt;
}

Verdict shared(Look& look, double nearness, const std::string& why, Confidence confidence) {
  return fires(confidence, nearness, why,
               "other traffic takes a part of the path while the test runs",
               {on(look, End::receiver,
                   fmt::format("ip -s link show dev {}  # while nothing is tested",
                               look.interface(End::receiver))),
                "repeat at another hour; give the traffic its own class, plane or link"});
}

/// Rates of the rounds, or nothing where there are fewer than five: each has new connections, and
/// so a new place in every hash.
std::vector<double> rates_of_rounds(const Look& look) {
  constexpr std::size_t kEnough = 5;
  std::vector<double> rates;
  for (const Round& round : look.row()->rounds) {
    const auto& record = round.forward ? round.forward : round.reverse;
    if (record && record->goodput_bps > 0) {
      rates.push_back(record->goodput_bps);
    }
  }
  std::ranges::sort(rates);
  return rates.size() >= kEnough ? rates : std::vector<double>{};
}

/// Two groups with a gap between them wider than either.
struct Groups {
  double gap = 1;     // first of the upper over last of the lower
  double spread = 1;  // the wider group's last over its first
};

Groups two_groups(const std::vector<double>& sorted) {
  Groups groups;
  std::size_t cut = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] / sorted[i - 1] > groups.gap) {
      groups.gap = sorted[i] / sorted[i - 1];
      cut = i;
    }
  }
  groups.spread = std::max(sorted[cut - 1] / sorted.front(), sorted.back() / sorted[cut]);
  return groups;
}

}  // namespace

bool has_standing_queue(Look& look) {
  const auto trip = round_trip(look);
  return trip && stands(*trip);
}

Verdict judge_remote_bottleneck(Look& look) {
  if (const auto still = stalled(look)) {
    return silent(*still);
  }
  const auto trip = round_trip(look);
  if (!trip) {
    return unknown("the round trip was not read");
  }
  const std::string why = queue_text(*trip);
  if (!stands(*trip)) {
    return silent(why);
  }
  if (const auto where = queue_is_elsewhere(look, *trip)) {
    return silent(why + ", but " + *where);
  }
  for (const End end : kEnds) {
    if (const auto busy = end_is_busy(look, end)) {
      return silent(why + ", but " + *busy);
    }
  }
  if (ack_loss_share(look).value_or(0) > kAcksLost) {
    return silent(why + ", but acknowledgements are lost, and later ones are timed instead");
  }
  if (foreign_share(look).value_or(0) > kForeignMuch) {
    return silent(why + ", but others fill the queue as well");
  }
  const auto more = ratio_with_more_streams(look);
  if (more && *more > kScales) {
    return silent(fmt::format("{}, but more streams get x{:.2f}", why, *more));
  }
  const bool reordered = reordered_share(look).value_or(0) > kReordered;
  const double near = (1 - trip->smallest_us / trip->smoothed_us) * (reordered ? 0.5 : 1);
  return fires(reordered ? Confidence::possible : Confidence::likely, near,
               why + (reordered ? ", partly by reordering" : ""),
               fmt::format("something between {} and {} passes about {} and queues {}",
                           look.host_name(End::sender), look.host_name(End::receiver),
                           format_bits_per_second(look.goodput_bps().value_or(0)),
                           milliseconds(trip->queued_us())),
               {fmt::format("tracepath -n {}  # where the round trip grows while the test runs",
                            look.host(End::receiver) != nullptr &&
                                    !look.host(End::receiver)->addresses.empty()
                                ? look.host(End::receiver)->addresses.front()
                                : look.host_name(End::receiver)),
                "read rate limits, speed and output queues of the switch ports in between"});
}

Verdict judge_cross_traffic(Look& look) {
  const auto foreign = foreign_share(look);
  const auto base = base_of_idle(look);
  const auto trip = round_trip(look);
  if (!foreign && !(base && trip)) {
    return unknown("neither the interface's bytes nor an idle round trip was read");
  }
  const std::string why = fmt::format(
      "{}{}",
      foreign ? fmt::format("bytes of others on the interface: {} of ours", percent(*foreign))
              : "bytes of others not known",
      base && trip ? fmt::format("; {}, {:.0f} times the idle path's", queue_text(*trip), *base)
                   : "");
  const bool queue = trip && stands(*trip);
  const double queued = queue ? 1 - trip->smallest_us / trip->smoothed_us : 0;
  if (foreign && *foreign > (queue ? kForeign : kForeignMuch)) {
    const double near = std::max(queued, *foreign / (1 + *foreign));
    return shared(look, near, why, queue ? Confidence::likely : Confidence::possible);
  }
  constexpr double kOthersQueue = 3;
  if (queue && base && *base > kOthersQueue && trip->smallest_us > kQueue_us &&
      !queue_is_elsewhere(look, *trip)) {
    return shared(look, 1.0, why, Confidence::likely);
  }
  return silent(why);
}

// A hash over ports puts each round's connection elsewhere; two rates, each steady, are two ways.
Verdict judge_uneven_paths(Look& look) {
  constexpr double kApart = 1.5;
  constexpr double kSteady = 1.15;
  constexpr double kQuiet = 0.05;
  const auto rates = rates_of_rounds(look);
  if (rates.empty()) {
    return unknown("fewer than five rounds");
  }
  const Groups groups = two_groups(rates);
  const std::string why =
      fmt::format("rounds from {} to {}, widest gap x{:.2f}, x{:.2f} within",
                  format_bits_per_second(rates.front()), format_bits_per_second(rates.back()),
                  groups.gap, groups.spread);
  if (groups.gap < kApart || groups.spread > kSteady) {
    return silent(why);
  }
  for (const End end : kEnds) {
    const auto waiting = waiting_share(look, end);
    if (waiting && *waiting > kQuiet) {
      return silent(why + ", but threads waited for CPUs");
    }
  }
  return fires(
      Confidence::possible, 1 - 1 / groups.gap, why,
      "connections fall onto two ways of unequal speed, by their port: equal-cost paths or "
      "bond members that others use as well",
      {"netbench pair --peer HOST --tcp.streams 1,4,16",
       "hash on ports at every hop (ECMP, LACP), or use adaptive routing"});
}

Verdict judge_detour(Look& look) {
  const auto same = look.fact(End::sender, "path.same_subnet");
  const auto gateway = look.fact_text(End::sender, "path.gateway");
  if (!same) {
    return unknown("whether both hosts are in one subnet was not read");
  }
  const std::string why = fmt::format("{} subnet, gateway {}", *same != 0 ? "the same" : "another",
                                      gateway.value_or("not known"));
  if (*same != 0 && (!gateway || gateway->starts_with("none"))) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.1, why,
               fmt::format("the traffic of {} goes through a router{}", look.host_name(End::sender),
                           gateway ? " (" + *gateway + ")" : ""),
               {"if both hosts are in one rack: addresses of one subnet, or a direct route"});
}

}  // namespace netbench::report
