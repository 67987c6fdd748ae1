#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"
#include "report/render/table.hpp"

namespace netbench::report {

/// One table for each workload of each transport, in the order of their first rows: size,
/// direction, MTU and the tunables that vary, then the numbers that workload has, with intervals,
/// costs of both ends, n, stop reason and flags. Columns without content are left out. `verbose`
/// adds softirq time, the spread between rounds and the effective values of varied tunables.
[[nodiscard]] std::vector<Table> result_tables(const Document& document, bool verbose);

}  // namespace netbench::report
