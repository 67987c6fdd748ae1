#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/builder.hpp"
#include "bench/plan/plan.hpp"
#include "bench/plan/tunable.hpp"

namespace netbench::plan {

/// Measured by the bytes that move, so that its base is a large message.
[[nodiscard]] bool is_stream_like(Pattern pattern);

/// What varies, and what holds, for one workload of one transport. Borrows the request and the
/// rows.
struct Factors {
  const PlanRequest& request;
  const TransportSpec& transport;
  const Workload& workload;
  std::vector<std::int64_t> sizes;                  // of this workload, in order, empty: none fits
  std::vector<Direction> directions;                // empty: none fits; `none` where it has none
  std::map<std::string, std::vector<Level>> given;  // the user's levels that apply, bare names
  TestPoint base;                                   // where neither is empty
};

/// Errors: `bad-size` where the transport declares sizes that cannot be.
[[nodiscard]] Result<Factors> factors_of(const PlanRequest& request, const TransportSpec& transport,
                                         const Workload& workload);

}  // namespace netbench::plan
