#pragma once

#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// The row across its rounds: the median of the rounds' values with Student's t on their logarithms
/// as interval; quantiles of the tail from the pooled histogram, each only where n(1-q) >= 10;
/// costs and counts summed over rounds. `ceiling_*` are not set here.
[[nodiscard]] Summary summarize(const Measurement& row);

/// Flags of a row: those of its rounds and of its tunables.
[[nodiscard]] std::set<std::string> row_flags(const Measurement& row);

}  // namespace netbench::measure
