#include "bench/measure/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include "bench/stats/estimate.hpp"

namespace netbench::measure {

namespace {

using RoundValue = std::function<std::optional<double>(const Round&)>;

std::vector<double> values_of(const Measurement& row, const RoundValue& value) {
  std::vector<double> values;
  for (const Round& round : row.rounds) {
    if (const auto one = value(round)) {
      values.push_back(*one);
    }
  }
  return values;
}

struct Spread {
  std::optional<double>& value;
  std::optional<double>& low;
  std::optional<double>& high;
};

/// Sets value and interval of a quantity that every round has once; returns the rounds' values.
std::vector<double> set_estimate(const Measurement& row, const RoundValue& value, Spread spread) {
  std::vector<double> values = values_of(row, value);
  if (values.empty()) {
    return values;
  }
  const stats::Estimate estimate = stats::median_of_rounds(values);
  spread.value = estimate.value;
  if (estimate.has_interval) {
    spread.low = estimate.low;
    spread.high = estimate.high;
  }
  return values;
}

std::optional<double> rate_of(const std::optional<StreamRecord>& record) {
  return record ? std::optional(record->goodput_bps) : std::nullopt;
}

std::optional<double> message_rate_of(const std::optional<StreamRecord>& record) {
  return record && record->measured_ns > 0
             ? std::optional(static_cast<double>(record->messages) * 1e9 /
                             static_cast<double>(record->measured_ns))
             : std::nullopt;
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a || b ? std::optional(a.value_or(0) + b.value_or(0)) : std::nullopt;
}

/// Standard deviation over mean between rounds; nothing for fewer than two.
std::optional<double> coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) {
    return std::nullopt;
  }
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return mean > 0
             ? std::optional(std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean)
             : std::nullopt;
}

void summarize_streams(const Measurement& row, Summary& summary) {
  const auto values = set_estimate(
      row, [](const Round& round) { return sum(rate_of(round.forward), rate_of(round.reverse)); },
      {summary.goodput_bps, summary.goodput_low_bps, summary.goodput_high_bps});
  if (values.empty()) {
    return;
  }
  summary.round_cv = coefficient_of_variation(values);
  std::optional<double> unused;
  if (row.direction == Direction::both) {
    set_estimate(row, [](const Round& round) { return rate_of(round.forward); },
                 {summary.forward_bps, unused, unused});
    set_estimate(row, [](const Round& round) { return rate_of(round.reverse); },
                 {summary.reverse_bps, unused, unused});
  }
  set_estimate(row,
               [](const Round& round) {
                 return sum(message_rate_of(round.forward), message_rate_of(round.reverse));
               },
               {summary.messages_per_s, summary.messages_low_per_s, summary.messages_high_per_s});
  for (const Round& round : row.rounds) {
    for (const auto* record : {&round.forward, &round.reverse}) {
      if (*record) {
        summary.n_samples += static_cast<std::int64_t>((*record)->series.size());
        summary.stop_reasons.insert((*record)->stop_reason);
      }
    }
  }
}

void set_quantiles(const stats::Histogram& pooled, Summary& summary) {
  struct Row {
    double q;
    std::optional<double> Summary::*member;
  };
  constexpr std::array<Row, 3> kRows{
      {{0.90, &Summary::rtt_p90_ns}, {0.99, &Summary::rtt_p99_ns}, {0.999, &Summary::rtt_p999_ns}}};
  for (const Row& row : kRows) {
    if (const auto value = pooled.reportable_quantile(row.q)) {
      summary.*row.member = static_cast<double>(*value);
    }
  }
  summary.rtt_min_ns = static_cast<double>(pooled.min());
  summary.rtt_max_ns = static_cast<double>(pooled.max());
  summary.n_samples = static_cast<std::int64_t>(pooled.count());
}

void summarize_latency(const Measurement& row, Summary& summary) {
  const auto values =
      set_estimate(row,
                   [](const Round& round) {
                     return round.latency ? std::optional(round.latency->median_ns) : std::nullopt;
                   },
                   {summary.rtt_p50_ns, summary.rtt_p50_low_ns, summary.rtt_p50_high_ns});
  if (values.empty()) {
    return;
  }
  summary.round_cv = coefficient_of_variation(values);
  stats::Histogram pooled;
  for (const Round& round : row.rounds) {
    if (round.latency) {
      pooled.merge(round.latency->histogram);
      summary.stop_reasons.insert(round.latency->stop_reason);
    }
  }
  set_quantiles(pooled, summary);
}

double counter(const EndRecord& end, std::string_view name) {
  const auto found = end.counters.find(std::string(name));
  return found == end.counters.end() ? 0 : found->second;
}

bool has_counter(const EndRecord& end, std::string_view name) {
  return end.counters.contains(std::string(name));
}

/// Sum of a counter over rounds and ends; nothing where no end has it.
std::optional<double> total(const Measurement& row, std::string_view name) {
  std::optional<double> result;
  for (const Round& round : row.rounds) {
    for (const EndRecord* end : {&round.initiator, &round.responder}) {
      if (has_counter(*end, name)) {
        result = result.value_or(0) + counter(*end, name);
      }
    }
  }
  return result;
}

/// Retransmits that repaired a loss, and those the receiver reported as duplicates (RFC 2883).
void summarize_retransmits(const Measurement& row, Summary& summary) {
  const auto retransmitted = total(row, "tcp_info.total_retrans");
  if (!retransmitted) {
    return;
  }
  const double spurious = std::min(total(row, "tcp_info.dsack_dups").value_or(0), *retransmitted);
  summary.spurious_retransmits = spurious;
  summary.retransmitted_segments = *retransmitted - spurious;
}

void summarize_datagrams(const Measurement& row, Summary& summary) {
  summary.lost_datagrams = total(row, "udp.lost");
  summary.socket_drops = total(row, "udp.socket_drops");
  summary.reordered_datagrams = total(row, "udp.reordered");
  summary.duplicate_datagrams = total(row, "udp.duplicates");
  for (const Round& round : row.rounds) {
    for (const EndRecord* end : {&round.initiator, &round.responder}) {
      if (has_counter(*end, "udp.jitter_ns")) {
        summary.jitter_ns = std::max(summary.jitter_ns.value_or(0), counter(*end, "udp.jitter_ns"));
      }
    }
  }
}

struct Cost {
  double cpu_s = 0;
  double softirq_s = 0;
  double steal_s = 0;
  double elapsed_s = 0;
};

Cost cost_of(const Measurement& row, EndRecord Round::*end) {
  Cost cost;
  for (const Round& round : row.rounds) {
    cost.cpu_s += (round.*end).cpu_s;
    cost.softirq_s += (round.*end).softirq_s;
    cost.steal_s += (round.*end).steal_s;
    cost.elapsed_s += (round.*end).elapsed_s;
  }
  return cost;
}

void summarize_costs(const Measurement& row, Summary& summary) {
  const double gigabytes = total(row, "payload.received_bytes").value_or(0) / 1e9;
  const Cost initiator = cost_of(row, &Round::initiator);
  const Cost responder = cost_of(row, &Round::responder);
  if (summary.goodput_bps && gigabytes > 0) {
    summary.cpu_s_per_gb_initiator = initiator.cpu_s / gigabytes;
    summary.cpu_s_per_gb_responder = responder.cpu_s / gigabytes;
    summary.softirq_s_per_gb_initiator = initiator.softirq_s / gigabytes;
    summary.softirq_s_per_gb_responder = responder.softirq_s / gigabytes;
  }
  if (initiator.elapsed_s > 0 && responder.elapsed_s > 0) {
    summary.steal_share_initiator = initiator.steal_s / initiator.elapsed_s;
    summary.steal_share_responder = responder.steal_s / responder.elapsed_s;
  }
}

}  // namespace

Summary summarize(const Measurement& row) {
  Summary summary;
  summary.n_rounds = static_cast<std::uint32_t>(row.rounds.size());
  summarize_streams(row, summary);
  summarize_latency(row, summary);
  summarize_retransmits(row, summary);
  summarize_datagrams(row, summary);
  summarize_costs(row, summary);
  for (const Round& round : row.rounds) {
    if (round.wire_disagreement) {
      summary.wire_disagreement =
          std::max(summary.wire_disagreement.value_or(0), std::abs(*round.wire_disagreement));
    }
  }
  return summary;
}

std::set<std::string> row_flags(const Measurement& row) {
  std::set<std::string> flags = row.flags;
  for (const Round& round : row.rounds) {
    flags.insert(round.flags.begin(), round.flags.end());
  }
  return flags;
}

}  // namespace netbench::measure
