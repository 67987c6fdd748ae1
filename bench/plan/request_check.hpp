#pragma once

#include "bench/core/result.hpp"
#include "bench/plan/builder.hpp"

namespace netbench::plan {

/// Did the user choose this workload? (All, where none is named.)
[[nodiscard]] bool is_chosen(const PlanRequest& request, const TransportSpec& transport,
                             const Workload& workload);

/// Names and numbers of a request against what the transports declare, before any point is made.
/// Errors, exit class usage: `bad-workload`, `bad-tunable`, `bad-size`, `bad-rounds`.
[[nodiscard]] Status check_request(const PlanRequest& request);

}  // namespace netbench::plan
