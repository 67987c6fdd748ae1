#include "report/bounds/rfc6349.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace netbench::report {

namespace {

/// Counters of the sending ends: one a round, two where both send.
std::vector<const Counters*> senders_of(const Measurement& row) {
  std::vector<const Counters*> ends;
  for (const Round& round : row.rounds) {
    if (row.direction != Direction::reverse) {
      ends.push_back(&round.initiator.counters);
    }
    if (row.direction == Direction::reverse || row.direction == Direction::both) {
      ends.push_back(&round.responder.counters);
    }
  }
  return ends;
}

std::optional<double> counter(const Counters& counters, const std::string& key) {
  const auto found = counters.find(key);
  return found == counters.end() || !std::isfinite(found->second) ? std::nullopt
                                                                  : std::optional(found->second);
}

std::optional<double> efficiency_of(const std::vector<const Counters*>& senders) {
  double sent = 0;
  double again = 0;
  for (const Counters* counters : senders) {
    const auto bytes = counter(*counters, "tcp_info.bytes_sent");
    const auto retransmitted = counter(*counters, "tcp_info.bytes_retrans");
    if (!bytes || !retransmitted) {
      return std::nullopt;
    }
    sent += *bytes;
    again += *retransmitted;
  }
  return sent > 0 ? std::optional((sent - again) / sent) : std::nullopt;
}

/// Of one end over the rounds; the ends alternate in `senders` where `stride` is 2.
std::optional<double> delay_of(const std::vector<const Counters*>& senders, std::size_t first,
                               std::size_t stride) {
  double sum = 0;
  double count = 0;
  double base = INFINITY;
  for (std::size_t i = first; i < senders.size(); i += stride) {
    const auto loaded = counter(*senders[i], "tcp_info.rtt_us");
    const auto least = counter(*senders[i], "tcp_info.min_rtt_us");
    if (loaded && least && *least > 0) {
      sum += *loaded;
      count += 1;
      base = std::min(base, *least);
    }
  }
  return count > 0 ? std::optional(std::max(sum / count - base, 0.0) / base) : std::nullopt;
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::optional<Rfc6349> rfc6349_of(const Measurement& row) {
  const auto goodput = row.summary.goodput_bps;
  if (row.transport != "tcp" || row.workload != "bandwidth" || !goodput || !(*goodput > 0)) {
    return std::nullopt;
  }
  Rfc6349 metrics;
  std::vector<std::string> unknown;
  if (const auto ceiling = row.summary.ceiling_bps; ceiling && *ceiling > 0) {
    metrics.transfer_time_ratio = *ceiling / *goodput;
  } else {
    unknown.emplace_back(
        "transfer time ratio unknown, because the goodput limit of the wire is not known");
  }
  const auto senders = senders_of(row);
  metrics.tcp_efficiency = efficiency_of(senders);
  if (!metrics.tcp_efficiency) {
    unknown.emplace_back(
        "TCP efficiency unknown, because the sender's TCP_INFO has no bytes_sent and "
        "bytes_retrans");
  }
  const bool both = row.direction == Direction::both;
  metrics.buffer_delay = delay_of(senders, 0, both ? 2 : 1);
  if (const auto other = both ? delay_of(senders, 1, 2) : std::nullopt) {
    metrics.buffer_delay = std::max(metrics.buffer_delay.value_or(0), *other);
  }
  if (!metrics.buffer_delay) {
    unknown.emplace_back(
        "buffer delay unknown, because the sender's TCP_INFO has no rtt_us and min_rtt_us");
  }
  metrics.note = joined(unknown);
  return metrics;
}

void add_rfc6349(Measurement& row) {
  if (const auto metrics = rfc6349_of(row)) {
    row.summary.transfer_time_ratio = metrics->transfer_time_ratio;
    row.summary.tcp_efficiency = metrics->tcp_efficiency;
    row.summary.buffer_delay = metrics->buffer_delay;
    row.summary.rfc6349_note = metrics->note.empty() ? std::nullopt : std::optional(metrics->note);
  }
}

}  // namespace netbench::report
