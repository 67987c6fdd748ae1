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
  const std::int64_t size = scope == Scope::round_trips ? row.size_bytes : -row.size_bytes;
  return std::tuple(asked_for_count(row), row.mtu_bytes == 0 ? 0 : 1, -row.mtu_bytes, size);
}

bool has_data(const Measurement& row) {
  return !row.rounds.empty() || row.summary.goodput_bps || row.summary.rtt_p50_ns;
}

}  // namespace

std::optional<Scope> scope_of(const Measurement& row) {
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
  std::map<std::tuple<std::string, Scope, Direction>, const Measurement*> nearest;
  for (const Measurement& row : document.measurements) {
    const auto scope = scope_of(row);
    if (!scope) {
      continue;
    }
    const Measurement*& best = nearest[{row.transport, *scope, row.direction}];
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

}  // namespace netbench::report
