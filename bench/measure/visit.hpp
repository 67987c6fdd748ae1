#pragma once

#include <cstdint>

#include "bench/core/result.hpp"
#include "bench/measure/initiator.hpp"
#include "bench/measure/observe.hpp"
#include "bench/measure/visit_end.hpp"
#include "bench/plugin/transport.hpp"

namespace netbench::measure {

/// One visit from the initiator's side.
struct VisitPlan {
  const plan::TestPoint& point;  // as it is to be opened (an emulated MTU has become an MSS)
  std::uint32_t round = 0;
  std::uint64_t seed = 0;
  VisitLimits limits;
};

/// What a visit brought: a round, and how the values of the point came out on both ends.
struct VisitResult {
  Round round;
  TunableRecord tunables;  // effective values and notes
  bool capped = false;
  std::string method;
};

/// Opens, connects, measures and closes one point on both ends. Ends by itself: connecting within
/// 10 s, measuring within three times its max_time and 6 s. Errors: the transport's, `no-progress`
/// (nothing arrived), `visit-deadline`, `interrupted`, and those of the channel.
[[nodiscard]] Result<VisitResult> run_visit(const VisitPlan& plan,
                                            const plugin::Transport& transport,
                                            const SweepContext& context);

}  // namespace netbench::measure
