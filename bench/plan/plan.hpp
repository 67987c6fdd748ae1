#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/model/measurement.hpp"
#include "bench/plan/tunable.hpp"

namespace netbench::plan {

/// One treatment: what is measured, with what. Every round visits it once.
struct TestPoint {
  std::string transport{};
  std::string workload{};
  Pattern pattern = Pattern::ping_pong;
  Direction direction = Direction::none;
  std::int64_t message_bytes = 0;
  /// Names without the transport's prefix; only what was asked for, the rest has its default.
  std::map<std::string, Level> tunables{};
  std::int64_t mtu_bytes = 0;  // 0: as the interface is

  /// Stable and unique within a plan: `tcp/bandwidth/forward/131072/rcvbuf=262144/mtu=1500`; a
  /// direction of `none` is left out. Characters that would be ambiguous are %XX (RFC 3986).
  [[nodiscard]] std::string id() const;

  [[nodiscard]] bool operator==(const TestPoint&) const = default;
};

/// One measurement of a point in a round.
struct Visit {
  std::uint32_t round = 0;
  std::int64_t mtu_bytes = 0;  // of the interfaces during the visit; 0: as they are
  std::size_t point = 0;       // index in SweepPlan::points
  std::uint64_t seed = 0;      // of this visit, for both ends; differs between visits

  [[nodiscard]] bool operator==(const Visit&) const = default;
};

struct SweepPlan {
  std::vector<TestPoint> points{};
  std::vector<std::int64_t> mtu_levels{};  // distinct MTUs of the points, without 0
  std::uint32_t rounds = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> notes{};  // what was left out and why, one sentence each

  /// Rounds outermost; inside a round one block per MTU, their order reversed in every other round
  /// (so that the MTU changes least often and drift does not favour one); inside a block the points
  /// in an order shuffled by the seed. The same plan gives the same order everywhere.
  [[nodiscard]] std::vector<Visit> order() const;
};

}  // namespace netbench::plan
