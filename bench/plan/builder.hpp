#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/plan.hpp"
#include "bench/plan/tunable.hpp"

namespace netbench::plan {

enum class Profile { quick, standard, thorough };

/// "quick", "default", "thorough". Errors: `bad-profile`, exit class usage.
[[nodiscard]] Result<Profile> parse_profile(std::string_view text);

/// Rounds and total time of a profile where the user says neither. The default budget keeps a run
/// under 60 s with preparation and report, the quick one under 20 s.
struct ProfileDefaults {
  std::uint32_t rounds = 5;
  std::int64_t budget_ns = 0;
};
[[nodiscard]] ProfileDefaults defaults_of(Profile profile);

/// What the user asked for. Everything empty: the default plan of the profile.
struct PlanRequest {
  std::vector<TransportSpec> transports{};  // the chosen ones, in the order of the tables
  std::vector<std::string>
      workloads{};  // names; empty = all. `tcp/latency` selects in one transport
  std::vector<std::int64_t> sizes{};
  std::vector<Direction> directions{};
  std::map<std::string, std::vector<Level>> tunables{};  // by full name, `tcp.sndbuf`
  std::vector<std::int64_t> mtus{};
  /// MTUs of the default plan beside the current one ({1500} where the path carries more).
  std::vector<std::int64_t> default_mtus{};
  Profile profile = Profile::standard;
  std::optional<std::uint32_t> rounds;
  std::uint64_t seed = 1;
};

/// The points of a sweep.
/// Where the user gave sizes, or several levels of anything, the plan is the full product of what
/// was given, everything else at its base. Otherwise it varies one factor at a time from the base
/// point of each workload: the profile's sizes; at the base size the declared `sweep` levels of
/// each tunable, the directions, and the MTUs. Single levels (`--tcp.nodelay off`) hold everywhere.
/// Base: for streams and collectives the declared size nearest to 128 KiB, else the smallest;
/// direction forward.
/// Errors, exit class usage: `bad-workload`, `bad-tunable` (unknown, or for none of the workloads),
/// `bad-size`, `bad-rounds`, `plan-empty` (no size or direction fits), `plan-too-large` (over
/// 10,000).
[[nodiscard]] Result<SweepPlan> build_plan(const PlanRequest& request);

}  // namespace netbench::plan
