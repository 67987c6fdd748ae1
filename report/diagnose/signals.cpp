#include "report/diagnose/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "bench/core/units.hpp"

namespace netbench::report {

namespace {

/// Below this a row of seconds moved nothing but the handshake and what fits into buffers.
constexpr double kNoProgressBytes = 200e3;
constexpr double kNoProgressSeconds = 2;
/// Doublings of the retransmission timer (tcp_info.backoff) that no working path needs.
constexpr double kBackedOff = 2;

/// Overlimits of packets sent by which a shaper shows, and a queue that only a shaper leaves
/// (measured: tbf).
constexpr double kShaped = 0.05;
constexpr double kQueuedBytes = 10'000;

std::string group_of(End end) { return end == End::sender ? "send" : "recv"; }

std::optional<double> thread_share(Look& look, End end, const std::string& part) {
  return look.ratio(end, group_of(end) + "." + part, group_of(end) + ".elapsed_s");
}

/// Streams of the row that another row has more of, in the order tried.
constexpr std::array<std::int64_t, 4> kMoreStreams = {4, 8, 2, 16};

}  // namespace

std::optional<double> running_share(Look& look, End end) {
  return thread_share(look, end, "cpu_s");
}
std::optional<double> waiting_share(Look& look, End end) {
  return thread_share(look, end, "wait_s");
}
std::optional<double> throttled_share(Look& look, End end) {
  return thread_share(look, end, "idle_s");
}
std::optional<double> blocked_share(Look& look, End end) {
  return thread_share(look, end, "blocked_s");
}

std::optional<double> busiest_share(Look& look, End end) {
  const auto busiest = look.largest(end, group_of(end) + ".busiest_cpu_share");
  const auto mean = busiest ? std::nullopt : running_share(look, end);
  return busiest ? busiest : mean;
}

std::optional<double> window_share(Look& look) {
  return look.ratio(End::sender, "tcp_info.rwnd_limited_us", "tcp_info.busy_time_us");
}

std::optional<RoundTrip> round_trip(Look& look) {
  const auto smoothed = look.typical(End::sender, "tcp_info.rtt_us");
  const auto smallest = look.typical(End::sender, "tcp_info.min_rtt_us");
  if (!smoothed || !smallest || *smoothed <= 0 || *smallest < 0) {
    return std::nullopt;
  }
  return RoundTrip{*smoothed, std::min(*smallest, *smoothed)};
}

std::string Losses::text() const {
  return fmt::format("{:.0f} of {:.0f} segments lost ({}), {:.0f} retransmitted, {:.0f} needlessly",
                     lost, sent, percent(share()), retransmitted, spurious);
}

std::optional<Losses> losses(Look& look) {
  const auto retransmitted = look.total(End::sender, "tcp_info.total_retrans");
  const auto sent = look.total(End::sender, "tcp_info.data_segs_out");
  if (!retransmitted || !sent || *sent <= 0) {
    return std::nullopt;
  }
  Losses found;
  found.retransmitted = *retransmitted;
  found.spurious =
      std::min(look.total(End::sender, "tcp_info.dsack_dups").value_or(0), found.retransmitted);
  found.sent = *sent;
  found.lost = found.retransmitted - found.spurious;
  const auto arrived = look.total(End::receiver, "tcp_info.data_segs_in");
  if (arrived && *arrived > 0) {
    found.lost = std::clamp(found.sent - *arrived, 0.0, found.lost);
  }
  return found;
}

LocalDrops local_drops(Look& look) {
  struct Place {
    End end;
    std::string_view key;
    std::string_view what;
  };
  constexpr std::array<Place, 6> kPlaces = {{
      {End::receiver, "softnet.dropped", "dropped from the backlog of a CPU"},
      {End::receiver, "snmp.Tcp.InCsumErrors", "with a wrong checksum"},
      {End::receiver, "netstat.TCPBacklogDrop", "dropped from the socket's backlog"},
      {End::receiver, "netstat.TCPRcvQDrop", "dropped from the receive queue"},
      {End::receiver, "if.*.rx_missed_errors", "missed by the interface's ring"},
      {End::sender, "qdisc.*.drops", "dropped by the sender's queueing discipline"},
  }};
  LocalDrops drops;
  double most = 0;
  for (const Place& place : kPlaces) {
    const double count = look.total(place.end, place.key).value_or(0);
    drops.count += count;
    if (count > most) {
      most = count;
      drops.text = fmt::format("{:.0f} {} on {}", count, place.what, look.host_name(place.end));
    }
  }
  return drops;
}

bool shaped_at_the_sender(Look& look) {
  const auto overlimits = look.ratio(End::sender, "qdisc.*.overlimits", "qdisc.*.packets");
  if (overlimits && *overlimits > kShaped) {
    return true;
  }
  const auto kind = look.fact_text(End::sender, "qdisc.*.kind");
  const auto backlog = look.largest(End::sender, "qdisc_max.*.backlog_bytes");
  return backlog && *backlog > kQueuedBytes && kind && (*kind == "tbf" || *kind == "htb");
}

std::optional<double> ratio_with_more_streams(Look& look) {
  if (const Intervention* moved = look.moved("more-streams")) {
    return moved->ratio;
  }
  for (const std::int64_t count : kMoreStreams) {
    if (const auto ratio = look.sibling_ratio("tcp.streams", Value{count})) {
      return ratio;
    }
  }
  return std::nullopt;
}

std::optional<std::string> stalled(Look& look) {
  const auto acked = look.total(End::sender, "tcp_info.bytes_acked");
  const auto elapsed = look.elapsed_s(End::sender);
  if (acked && elapsed && *acked<kNoProgressBytes&& * elapsed> kNoProgressSeconds) {
    return fmt::format("no progress: {:.0f} B acknowledged in {:.1f} s", *acked, *elapsed);
  }
  const auto backoff = look.typical(End::sender, "tcp_info.backoff");
  if (backoff && *backoff >= kBackedOff) {
    return fmt::format("no progress: the retransmission timer was doubled {:.0f} times", *backoff);
  }
  return std::nullopt;
}

std::string congestion_of(Look& look) {
  const auto set = look.setting_text(End::sender, "tcp.congestion");
  return set ? *set
             : look.fact_text(End::sender, "sysctl.net.ipv4.tcp_congestion_control").value_or("");
}

bool is_loss_based(std::string_view congestion) {
  return congestion == "cubic" || congestion == "reno";
}

std::optional<double> work_in_cores(Look& look, End end) {
  const auto elapsed = look.elapsed_s(end);
  const auto threads = look.total(end, group_of(end) + ".cpu_s");
  const auto softirq = look.total(end, "cpu.softirq_s");
  if (!elapsed || (!threads && !softirq)) {
    return std::nullopt;
  }
  return (threads.value_or(0) + softirq.value_or(0)) / *elapsed;
}

std::int64_t fitting_buffer(Look& look, double now) {
  const Bound* wire = look.bound("wire");
  const double measured_bps = look.goodput_bps().value_or(0);
  const double target_bps = wire != nullptr ? wire->limit_bps.value_or(0) : 4 * measured_bps;
  const auto trip = round_trip(look);
  const double product_bytes =
      trip ? target_bps / 8 * std::max(trip->smallest_us, 1.0) * 1e-6 : 0.0;
  constexpr double kLargest = 1 << 30;
  const double wanted = std::clamp(std::max(2 * product_bytes, 4 * now), 1.0, kLargest);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
}

std::string on(const Look& look, End end, const std::string& command) {
  return fmt::format("on {}: {}", look.host_name(end), command);
}

void raise_asked_limit(Look& look, End end, const std::string& name, std::int64_t bytes,
                       std::vector<std::string>& remedy) {
  const auto now = look.fact(end, fmt::format("sysctl.net.core.{}_bytes", name));
  if (now.value_or(0) < static_cast<double>(bytes)) {
    remedy.push_back(on(look, end, fmt::format("sysctl -w net.core.{}={}", name, bytes)));
  }
}

void raise_tuned_limit(Look& look, End end, const std::string& name, std::int64_t bytes,
                       std::vector<std::string>& remedy) {
  const auto part = [&](std::string_view which) {
    return look.fact(end, fmt::format("sysctl.net.ipv4.{}_{}_bytes", name, which));
  };
  if (part("max").value_or(0) >= static_cast<double>(bytes)) {
    return;
  }
  const double usual = name == "tcp_rmem" ? 131'072 : 16'384;  // ip-sysctl
  remedy.push_back(
      on(look, end,
         fmt::format("sysctl -w net.ipv4.{}=\"{:.0f} {:.0f} {}\"", name, part("min").value_or(4096),
                     part("default").value_or(usual), bytes)));
}

std::string percent(double share) {
  return share >= 0.1 || share == 0 ? fmt::format("{:.0f} %", 100 * share)
                                    : fmt::format("{:.2g} %", 100 * share);
}

std::string milliseconds(double us) { return format_ns(us * 1e3); }

}  // namespace netbench::report
