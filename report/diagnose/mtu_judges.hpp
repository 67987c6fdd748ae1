#pragma once

#include "report/diagnose/rule.hpp"

/// The judges of mtu_rules() that look at devices instead of packets (mtu_device_rules.cpp).
/// Private to report/diagnose.
namespace netbench::report {

[[nodiscard]] Verdict judge_overlay(Look& look);
[[nodiscard]] Verdict judge_roce(Look& look);
[[nodiscard]] Verdict judge_switch_port(Look& look);

}  // namespace netbench::report
