#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/core/units.hpp"
#include "report/bounds/limit_models.hpp"

namespace netbench::report::limits {

namespace {

constexpr double kSendBufferPayload = 0.85;
constexpr double kMathis = 1.2247;  // sqrt(3/2)
/// Average window of CUBIC in segments over (round trip / loss)^(3/4), with its C of 0.4 and beta
/// of 0.7; it takes the larger of this and Reno's (RFC 9438, sections 4.3 and 5.1).
constexpr double kCubic = 1.054;
/// Fewer say too little of a rate of loss.
constexpr double kLossesNeeded = 20;

std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

std::string size_text(double bytes) {
  return bytes >= 1e6 ? fmt::format("{:.3g} MB", bytes / 1e6)
                      : fmt::format("{:.4g} kB", bytes / 1e3);
}

std::string time_text(double us) { return format_ns(us * 1e3); }

std::string flows_text(double streams) {
  return streams > 1 ? fmt::format(" x {:g} streams", streams) : std::string();
}

std::optional<double> round_trip_us(RowReader& row) {
  return positive(row.typical(Role::sender, "tcp_info.rtt_us"));
}

/// The largest window the receiver offered in a round, all connections together: its median over
/// the rounds, as the goodput is.
std::optional<double> offered_window(RowReader& row) {
  for (const auto& [role, key] : {std::pair(Role::sender, "tcp_info_max.snd_wnd"),
                                  std::pair(Role::sender, "tcp_info.snd_wnd"),
                                  std::pair(Role::receiver, "tcp_info_max.rcv_wnd"),
                                  std::pair(Role::receiver, "tcp_info.rcv_wnd")}) {
    if (const auto window = positive(row.typical(role, key))) {
      return window;
    }
  }
  return std::nullopt;
}

/// SO_SNDBUF of all connections: as the kernel had it during the row, or, where it was fixed, as it
/// was set.
std::optional<double> send_buffer_bytes(RowReader& row) {
  if (const auto bytes = positive(row.typical(Role::sender, "sock.sndbuf_bytes"))) {
    return bytes;
  }
  const auto each =
      row.asked_for("tcp.sndbuf") ? row.setting(Role::sender, "tcp.sndbuf") : std::nullopt;
  return each && *each > 0 ? std::optional(*each * row.streams()) : std::nullopt;
}

std::string congestion_of(RowReader& row) {
  const auto set = row.setting_text(Role::sender, "tcp.congestion");
  return set ? *set
             : row.fact_text(Role::sender, "sysctl.net.ipv4.tcp_congestion_control").value_or("");
}

bool is_unlimited(double bytes_per_s) {
  constexpr double kNoCap64 = 1e18;
  constexpr double kNoCap32 = 4294967295.0;
  return bytes_per_s >= kNoCap64 || bytes_per_s == kNoCap32;
}

/// Bits per second that one connection may send, and what says so.
std::optional<std::pair<double, std::string>> cap_of_a_connection(RowReader& row) {
  const auto kernel = positive(row.typical(Role::sender, "tcp_info.max_pacing_rate"));
  if (kernel && !is_unlimited(*kernel)) {
    return std::pair(*kernel * 8, std::string("SO_MAX_PACING_RATE"));
  }
  const auto asked = positive(row.setting(Role::sender, "tcp.pacing"));
  if (!kernel && asked) {
    return std::pair(*asked, std::string("tcp.pacing"));
  }
  const HostInfo* host = row.host(Role::sender);
  const auto rate =
      host == nullptr ? std::nullopt
                      : positive(row.fact(Role::sender,
                                          fmt::format("qdisc.{}.flow_rate_bps", host->interface)));
  if (rate) {
    return std::pair(*rate, std::string("maxrate of fq"));
  }
  return std::nullopt;
}

}  // namespace

Limit receive_window(RowReader& row) {
  const auto window = offered_window(row);
  const auto rtt = round_trip_us(row);
  if (!window || !rtt) {
    return not_known(window ? "the round trip was not read" : "no window was read");
  }
  return {*window * 8 / (*rtt * 1e-6), fmt::format("{} of window x 8 / {} smoothed round trip",
                                                   size_text(*window), time_text(*rtt))};
}

Limit send_buffer(RowReader& row) {
  const auto buffer = send_buffer_bytes(row);
  const auto rtt = positive(row.smallest(Role::sender, "tcp_info.min_rtt_us"));
  if (!buffer || !rtt) {
    return not_known(buffer ? "the smallest round trip was not read"
                            : "SO_SNDBUF was not read while the stream ran");
  }
  return {kSendBufferPayload * *buffer * 8 / (*rtt * 1e-6),
          fmt::format("{} x {} of SO_SNDBUF x 8 / {} smallest round trip", kSendBufferPayload,
                      size_text(*buffer), time_text(*rtt))};
}

Limit congestion_window(RowReader& row) {
  const auto segments = positive(row.typical(Role::sender, "tcp_info.snd_cwnd"));
  const auto mss = positive(row.typical(Role::sender, "tcp_info.snd_mss"));
  const auto rtt = round_trip_us(row);
  if (!segments || !mss || !rtt) {
    return not_known("snd_cwnd, snd_mss or the round trip was not read");
  }
  return {*segments * *mss * 8 / (*rtt * 1e-6),
          fmt::format("{:.0f} segments x {:.0f} B x 8 / {} smoothed round trip", *segments, *mss,
                      time_text(*rtt))};
}

std::optional<Loss> loss_of(RowReader& row) {
  const auto retransmitted = row.total(Role::sender, "tcp_info.total_retrans");
  const auto sent = positive(row.total(Role::sender, "tcp_info.data_segs_out"));
  if (!retransmitted || !sent) {
    return std::nullopt;
  }
  const double spurious = row.total(Role::sender, "tcp_info.dsack_dups").value_or(0);
  Loss loss{std::max(0.0, *retransmitted - spurious), *sent, {}};
  loss.arithmetic =
      fmt::format("({:.0f} retransmitted - {:.0f} needlessly)", *retransmitted, spurious);
  const auto arrived = positive(row.total(Role::receiver, "tcp_info.data_segs_in"));
  if (arrived && *sent - *arrived < loss.lost) {
    loss.lost = std::max(0.0, *sent - *arrived);
    loss.arithmetic = fmt::format("{:.0f} that did not arrive", loss.lost);
  }
  loss.arithmetic += fmt::format(" / {:.0f} segments", *sent);
  return loss;
}

Limit loss(RowReader& row) {
  const std::string congestion = congestion_of(row);
  if (congestion != "cubic" && congestion != "reno") {
    return not_known(congestion.empty() ? "the congestion control is not known"
                                        : fmt::format("the model is not one of {}", congestion));
  }
  const auto seen = loss_of(row);
  const auto mss = positive(row.typical(Role::sender, "tcp_info.snd_mss"));
  const auto rtt = round_trip_us(row);
  if (!seen || !mss || !rtt) {
    return not_known("retransmits, segments, snd_mss or the round trip were not read");
  }
  if (seen->lost < kLossesNeeded) {
    return not_known(fmt::format("{:.0f} lost segments are too few for a rate ({:.0f} needed)",
                                 seen->lost, kLossesNeeded));
  }
  const double share = seen->lost / seen->sent;
  const double rtt_s = *rtt * 1e-6;
  const double reno = kMathis / std::sqrt(share);
  const double cubic = congestion == "cubic" ? kCubic * std::pow(rtt_s / share, 0.75) : 0;
  return {row.streams() * std::max(reno, cubic) * *mss * 8 / rtt_s,
          fmt::format("{} x {:.0f} B x 8 / {}{}, loss {}",
                      reno >= cubic ? fmt::format("1.22 / sqrt({:.2g})", share)
                                    : fmt::format("1.054 x ({:.3g} s / {:.2g})^0.75", rtt_s, share),
                      *mss, time_text(*rtt), flows_text(row.streams()), seen->arithmetic)};
}

Limit pacing(RowReader& row) {
  if (row.row().transport == "udp") {
    const auto rate = positive(row.setting(Role::sender, "udp.rate"));
    return rate ? Limit{rate, fmt::format("udp.rate {}", format_bits_per_second(*rate))}
                : not_known("the datagrams are not paced");
  }
  const auto cap = cap_of_a_connection(row);
  if (!cap) {
    return not_known("no connection is paced below the link");
  }
  return {cap->first * row.streams(),
          fmt::format("{} {}{}", cap->second, format_bits_per_second(cap->first),
                      flows_text(row.streams()))};
}

}  // namespace netbench::report::limits
