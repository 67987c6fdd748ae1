#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/bounds/limit_models.hpp"

namespace netbench::report::limits {

namespace {

bool is_read(const std::string& operation) {
  constexpr std::array<std::string_view, 3> kAnswered{"read", "fetch_add", "compare_swap"};
  return std::ranges::find(kAnswered, operation) != kAnswered.end();
}

std::string operation_of(RowReader& row) {
  return row.setting_text(Role::sender, "verbs.op").value_or("");
}

std::string operation_of(const Measurement& row) {
  const auto found = row.tunables.effective_initiator.find("verbs.op");
  const auto* text = found == row.tunables.effective_initiator.end()
                         ? nullptr
                         : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

/// The round trip of the smallest messages, of the same operation where that was measured.
struct RoundTrip {
  double ns = 0;
  std::string operation;
};
std::optional<RoundTrip> round_trip(RowReader& row, const std::string& operation) {
  const auto& rows = row.document().measurements;
  const Measurement* best = nullptr;
  for (const Measurement& other : rows) {
    if (other.transport != "verbs" || !other.summary.rtt_p50_ns || *other.summary.rtt_p50_ns <= 0) {
      continue;
    }
    const auto order = [&](const Measurement& one) {
      return std::pair(operation_of(one) != operation, one.size_bytes);
    };
    best = best == nullptr || order(other) < order(*best) ? &other : best;
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  row.cite(fmt::format("/measurements/{}/summary/rtt_p50_ns", best - rows.data()));
  return RoundTrip{*best->summary.rtt_p50_ns, operation_of(*best)};
}

double queue_pairs(RowReader& row) {
  return std::max(1.0, row.setting(Role::sender, "verbs.qps").value_or(1));
}

Limit outstanding(RowReader& row, double depth, const std::string& operation) {
  const auto trip = round_trip(row, operation);
  if (!trip) {
    return not_known("no round trip was measured");
  }
  const double pairs = queue_pairs(row);
  const auto bytes = static_cast<double>(row.row().size_bytes);
  return {depth * pairs * bytes * 8 / (trip->ns * 1e-9),
          fmt::format("{:.0f} x {:.0f} queue pair{} x {:.0f} B x 8 / {:.3g} us", depth, pairs,
                      pairs == 1 ? "" : "s", bytes, trip->ns * 1e-3)};
}

}  // namespace

Limit read_depth(RowReader& row) {
  const std::string operation = operation_of(row);
  if (!is_read(operation)) {
    return not_known(fmt::format("\"{}\" waits for no answer of the peer's card", operation));
  }
  const auto near = row.setting(Role::sender, "verbs.read_depth");
  const auto far = row.setting(Role::receiver, "verbs.read_depth");
  if (!near && !far) {
    return not_known("the read depth in effect is not known");
  }
  const double depth = near && far ? std::min(*near, *far) : near ? *near : *far;
  return outstanding(row, depth, operation);
}

Limit work_queue(RowReader& row) {
  const auto depth = row.setting(Role::sender, "verbs.tx_depth");
  if (!depth) {
    return not_known("the depth of the send queue is not known");
  }
  return outstanding(row, *depth, operation_of(row));
}

Limit one_queue_pair(RowReader& row) {
  const double pairs = queue_pairs(row);
  if (pairs <= 1) {
    return not_known("this is one queue pair: another row has to tell what one carries");
  }
  const auto& rows = row.document().measurements;
  for (const Measurement& other : rows) {
    const auto& effective = other.tunables.effective_initiator;
    const auto found = effective.find("verbs.qps");
    const auto count = found == effective.end() ? std::nullopt : number_of(found->second);
    if (other.transport == row.row().transport && other.workload == row.row().workload &&
        other.direction == row.row().direction && other.size_bytes == row.row().size_bytes &&
        operation_of(other) == operation_of(row) && count == 1.0 && other.summary.goodput_bps) {
      row.cite(fmt::format("/measurements/{}/summary/goodput_bps", &other - rows.data()));
      return {pairs * *other.summary.goodput_bps,
              fmt::format("{:.0f} x {} of one queue pair", pairs,
                          format_bits_per_second(*other.summary.goodput_bps))};
    }
  }
  return not_known("no row has one queue pair alone");
}

}  // namespace netbench::report::limits
