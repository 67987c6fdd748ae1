#pragma once

#include "report/diagnose/rule.hpp"

/// The judges of bus_rules() about slots and bridges (bus_slot_rules.cpp). Private to
/// report/diagnose.
namespace netbench::report {

[[nodiscard]] Verdict judge_slot_full(Look& look);
[[nodiscard]] Verdict judge_narrow_slot(Look& look);
[[nodiscard]] Verdict judge_degraded_slot(Look& look);
[[nodiscard]] Verdict judge_payload(Look& look);
[[nodiscard]] Verdict judge_shared_uplink(Look& look);

}  // namespace netbench::report
