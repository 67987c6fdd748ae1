#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/measure/initiator.hpp"
#include "bench/model/document.hpp"
#include "bench/plan/plan.hpp"

namespace netbench::cli {

/// What experiments of a run need of it; everything must outlive try_experiments().
struct ExperimentRun {
  const plan::SweepPlan& plan;
  const std::vector<plan::TransportSpec>& specs;
  const measure::SweepContext& context;
  std::int64_t interface_mtu_bytes = 0;
  std::int64_t budget_ns = 0;
  std::function<void(const std::string&)> say;
};

/// Diagnoses the rows of a finished sweep and tries what the diagnosis asks for, again and again,
/// until nothing is left to decide or the budget is used up. What was tried, and what could not be,
/// is in document.interventions afterwards. Errors: `interrupted`, and a lost peer.
[[nodiscard]] Status try_experiments(Document& document, const ExperimentRun& run);

}  // namespace netbench::cli
