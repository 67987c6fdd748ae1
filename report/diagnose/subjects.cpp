#include "report/diagnose/subjects.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace netbench::report {

namespace {

std::int64_t asked_for_count(const Measurement& row) {
  return std::ranges::count_if(row.tunables.requested,
                               [&](const auto& one) { return is_asked_for(row, one.first); });
}

/// Less is closer to what a user of the path would run.
auto distance(const Measurement& row, Scope scope) {
  const bool shortest = scope == Scope::round_trips || scope == Scope::verbs_round_trips;
  const std::int64_t size = shortest ? row.size_bytes : -row.size_bytes;
  return std::tuple(asked_for_count(row), row.mtu_bytes == 0 ? 0 : 1, -row.mtu_bytes, size);
}

bool has_data(const Measurement& row) {
  return !row.rounds.empty() || row.summary.goodput_bps || row.summary.rtt_p50_ns;
}

std::optional<Scope> verbs_scope_of(const Measurement& row) {
  if (row.workload == "latency" && row.summary.rtt_p50_ns) {
    return Scope::verbs_round_trips;
  }
  const bool one_way = row.direction != Direction::both && row.direction != Direction::none;
  return row.workload == "bandwidth" && one_way && row.summary.goodput_bps
             ? std::optional(Scope::verbs_stream)
             : std::nullopt;
}

/// What else keeps rows of verbs apart: "write rc mlx5_0".
std::string variant_of(const Measurement& row) {
  std::string variant;
  for (const char* name : {"verbs.op", "verbs.qp", "verbs.device"}) {
    const auto& effective = row.tunables.effective_initiator;
    const auto found = row.transport == "verbs" ? effective.find(name) : effective.end();
    const auto* text =
        found == effective.end() ? nullptr : std::get_if<std::string>(&found->second);
    variant += text == nullptr ? " " : *text + " ";
  }
  return variant;
}

}  // namespace

std::optional<Scope> scope_of(const Measurement& row) {
  if (row.transport == "verbs") {
    return verbs_scope_of(row);
  }
  if (!has_data(row) || row.direction == Direction::both) {
    return std::nullopt;
  }
  if (row.workload == "latency") {
    return Scope::round_trips;
  }
  if (row.workload != "bandwidth") {
    return std::nullopt;
  }
  return row.transport == "udp"   ? std::optional(Scope::datagrams)
         : row.transport == "tcp" ? std::optional(Scope::stream)
                                  : std::nullopt;
}

std::vector<const Measurement*> subjects_of(const Document& document) {
  std::map<std::tuple<std::string, Scope, Direction, std::string>, const Measurement*> nearest;
  for (const Measurement& row : document.measurements) {
    const auto scope = scope_of(row);
    if (!scope) {
      continue;
    }
    const Measurement*& best = nearest[{row.transport, *scope, row.direction, variant_of(row)}];
    if (best == nullptr || distance(row, *scope) < distance(*best, *scope)) {
      best = &row;
    }
  }
  std::vector<const Measurement*> subjects;
  for (const auto& [key, row] : nearest) {
    subjects.push_back(row);
  }
  return subjects;
}

std::vector<const Measurement*> verbs_failures_of(const Document& document) {
  std::vector<const Measurement*> failures;
  for (const Measurement& row : document.measurements) {
    if (row.transport == "verbs" && row.error && row.error->slug != "interrupted") {
      failures.push_back(&row);
    }
  }
  return failures;
}

}  // namespace netbench::report
