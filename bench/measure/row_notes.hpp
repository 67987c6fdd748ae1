#pragma once

#include "bench/model/measurement.hpp"

namespace netbench::measure {

/// Writes into the row's notes what the counters of its rounds say about how it was measured: the
/// share of MSG_ZEROCOPY sends that the kernel copied all the same, and of the time in which a
/// paced sender fell behind (from 1 % on). Replaces what an earlier call wrote.
void note_counters(Measurement& row);

}  // namespace netbench::measure
