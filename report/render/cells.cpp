#include "report/render/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "report/render/format.hpp"

namespace netbench::report {

namespace {

struct WorkloadKind {
  std::string_view workload;
  unsigned kind;
};
constexpr std::array<WorkloadKind, 5> kWorkloads{{{"bandwidth", kStream},
                                                  {"latency", kLatency},
                                                  {"loaded_latency", kLatency | kStream},
                                                  {"message_rate", kRate | kStream},
                                                  {"connect", kConnect}}};

std::string scaled(const std::optional<double>& value, const Scale& scale, int digits) {
  const auto number = finite(value);
  return number ? significant(*number / scale.factor, digits) : std::string();
}

std::string with_interval(const std::optional<double>& value, const std::optional<double>& low,
                          const std::optional<double>& high, const Scale& scale) {
  std::string text = scaled(value, scale, 4);
  if (!text.empty() && finite(low) && finite(high)) {
    text += fmt::format(" [{}-{}]", scaled(low, scale, 4), scaled(high, scale, 4));
  }
  return text;
}

/// "0.12/0.14": both ends of a column, initiator first; a dash for an end without the value.
std::string pair_of(const std::optional<double>& first, const std::optional<double>& second,
                    double factor = 1) {
  if (!finite(first) && !finite(second)) {
    return {};
  }
  const auto part = [&](const std::optional<double>& value) {
    return finite(value) ? significant(*value * factor, 2) : std::string("-");
  };
  return fmt::format("{}/{}", part(first), part(second));
}

std::string whole(const std::optional<double>& value) {
  return finite(value) ? fmt::format("{:.0f}", *value) : std::string();
}

std::string percent(const std::optional<double>& share, int digits) {
  return finite(share) ? significant(*share * 100, digits) : std::string();
}

std::string of_ceiling(const Measurement& row, const Scales&) {
  const auto goodput = finite(row.summary.goodput_bps);
  const auto ceiling = finite(row.summary.ceiling_bps);
  return goodput && ceiling && *ceiling > 0 ? fmt::format("{:.1f}", *goodput / *ceiling * 100)
                                            : std::string();
}

std::string retransmits(const Measurement& row, const Scales&) {
  const Summary& summary = row.summary;
  if (!finite(summary.retransmitted_segments)) {
    return {};
  }
  return fmt::format("{:.0f}/{:.0f}", *summary.retransmitted_segments,
                     summary.spurious_retransmits.value_or(0));
}

std::string steal(const Measurement& row, const Scales&) {
  constexpr double kShownShare = 0.005;
  const Summary& summary = row.summary;
  const double most = std::max(finite(summary.steal_share_initiator).value_or(0),
                               finite(summary.steal_share_responder).value_or(0));
  return most < kShownShare
             ? std::string()
             : pair_of(summary.steal_share_initiator, summary.steal_share_responder, 100);
}

/// Stop reasons in few letters; render.cpp explains them.
std::string stops(const Measurement& row, const Scales&) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kShort{
      {{"converged", "conv"}, {"noise_converged", "noise"}, {"max_time", "max"}}};
  std::string text;
  for (const std::string& reason : row.summary.stop_reasons) {
    const auto* found =
        std::ranges::find(kShort, reason, [](const auto& pair) { return pair.first; });
    text += text.empty() ? "" : "+";
    text += found == kShort.end() ? std::string_view(reason) : found->second;
  }
  return text;
}

std::string flags(const Measurement& row, const Scales&) {
  constexpr std::array<std::string_view, 3> kStates{"", "failed", "skipped"};
  std::string text(kStates.at(static_cast<std::size_t>(row.status)));
  if (row.error && row.status != MeasurementStatus::ok) {
    text += fmt::format(": {}", row.error->slug);
  }
  for (const std::string& flag : row.flags) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", flag);
  }
  return text;
}

using M = const Measurement&;
using S = const Scales&;

constexpr auto kTimeP50 = [](M row, S in) {
  return with_interval(row.summary.rtt_p50_ns, row.summary.rtt_p50_low_ns,
                       row.summary.rtt_p50_high_ns, in.time);
};

constexpr std::array<ColumnSpec, 29> kColumns{{
    {"goodput [interval]", Quantity::rate, "", kStream, false,
     [](M row, S in) {
       return with_interval(row.summary.goodput_bps, row.summary.goodput_low_bps,
                            row.summary.goodput_high_bps, in.rate);
     }},
    {"fwd+rev", Quantity::rate, "", kStream, false,
     [](M row, S in) {
       const std::string forward = scaled(row.summary.forward_bps, in.rate, 4);
       const std::string reverse = scaled(row.summary.reverse_bps, in.rate, 4);
       return forward.empty() || reverse.empty() ? std::string()
                                                 : fmt::format("{}+{}", forward, reverse);
     }},
    {"of wire", Quantity::none, "%", kStream, false, of_ceiling},
    {"messages [interval]", Quantity::count, "", kRate, false,
     [](M row, S in) {
       return with_interval(row.summary.messages_per_s, row.summary.messages_low_per_s,
                            row.summary.messages_high_per_s, in.count);
     }},
    {"set-up p50 [interval]", Quantity::time, "", kConnect, false, kTimeP50},
    {"RTT p50 [interval]", Quantity::time, "", kLatency, false, kTimeP50},
    {"RTT/2 p50", Quantity::time, "", kLatency, false,
     [](M row, S in) {
       const auto rtt = finite(row.summary.rtt_p50_ns);
       return rtt ? scaled(*rtt / 2, in.time, 4) : std::string();
     }},
    {"min", Quantity::time, "", kLatency | kConnect, false,
     [](M row, S in) { return scaled(row.summary.rtt_min_ns, in.time, 3); }},
    {"p90", Quantity::time, "", kLatency | kConnect, false,
     [](M row, S in) { return scaled(row.summary.rtt_p90_ns, in.time, 3); }},
    {"p99", Quantity::time, "", kLatency | kConnect, false,
     [](M row, S in) { return scaled(row.summary.rtt_p99_ns, in.time, 3); }},
    {"p99.9", Quantity::time, "", kLatency | kConnect, false,
     [](M row, S in) { return scaled(row.summary.rtt_p999_ns, in.time, 3); }},
    {"max", Quantity::time, "", kLatency | kConnect, false,
     [](M row, S in) { return scaled(row.summary.rtt_max_ns, in.time, 3); }},
    {"set-ups", Quantity::count, "", kConnect, false,
     [](M row, S in) { return scaled(row.summary.messages_per_s, in.count, 4); }},
    {"CPU i/r", Quantity::none, "s/GB", kStream, false,
     [](M row, S) {
       return pair_of(row.summary.cpu_s_per_gb_initiator, row.summary.cpu_s_per_gb_responder);
     }},
    {"softirq i/r", Quantity::none, "s/GB", kStream, true,
     [](M row, S) {
       return pair_of(row.summary.softirq_s_per_gb_initiator,
                      row.summary.softirq_s_per_gb_responder);
     }},
    {"steal i/r", Quantity::none, "% of time", kAll, false, steal},
    {"retrans", Quantity::none, "real/spur", kStream, false, retransmits},
    {"lost", Quantity::none, "network", kAll, false,
     [](M row, S) { return whole(row.summary.lost_datagrams); }},
    {"dropped", Quantity::none, "socket", kAll, false,
     [](M row, S) { return whole(row.summary.socket_drops); }},
    {"reord", Quantity::none, "", kAll, false,
     [](M row, S) { return whole(row.summary.reordered_datagrams); }},
    {"dup", Quantity::none, "", kAll, false,
     [](M row, S) { return whole(row.summary.duplicate_datagrams); }},
    {"jitter", Quantity::none, "us", kAll, false,
     [](M row, S) {
       return scaled(row.summary.jitter_ns, {"us", 1e3}, 3);
     }},
    {"off wire", Quantity::none, "%", kStream, true,
     [](M row, S) { return percent(row.summary.wire_disagreement, 2); }},
    {"round cv", Quantity::none, "%", kAll, true,
     [](M row, S) { return percent(row.summary.round_cv, 2); }},
    {"samples", Quantity::none, "", kLatency | kConnect, false,
     [](M row, S) {
       return row.summary.n_samples > 0 ? std::to_string(row.summary.n_samples) : std::string();
     }},
    {"windows", Quantity::none, "", kStream, true,
     [](M row, S) {
       return row.summary.n_samples > 0 ? std::to_string(row.summary.n_samples) : std::string();
     }},
    {"n", Quantity::none, "", kAll, false,
     [](M row, S) {
       return row.summary.n_rounds > 0 ? std::to_string(row.summary.n_rounds) : std::string();
     }},
    {"stop", Quantity::none, "", kAll, false, stops},
    {"flags", Quantity::none, "", kAll, false, flags},
}};

}  // namespace

std::span<const ColumnSpec> result_columns() { return kColumns; }

unsigned kind_of(const std::string& workload) {
  const auto* found = std::ranges::find(kWorkloads, workload, &WorkloadKind::workload);
  return found == kWorkloads.end() ? kAll : found->kind;
}

}  // namespace netbench::report
