#pragma once

#include "report/diagnose/rule.hpp"

/// The judges of connection_rules(). Private to report/diagnose.
namespace netbench::report {

// connection_route_rules.cpp: until the peer is reached.
[[nodiscard]] Verdict judge_name(Look& look);
[[nodiscard]] Verdict judge_no_route(Look& look);
[[nodiscard]] Verdict judge_no_carrier(Look& look);
[[nodiscard]] Verdict judge_unused_address(Look& look);
[[nodiscard]] Verdict judge_router(Look& look);
[[nodiscard]] Verdict judge_netmask(Look& look);
[[nodiscard]] Verdict judge_netmasks(Look& look);
[[nodiscard]] Verdict judge_reverse_path(Look& look);
[[nodiscard]] Verdict judge_duplicate_address(Look& look);
[[nodiscard]] Verdict judge_own_output(Look& look);
[[nodiscard]] Verdict judge_own_policy(Look& look);
[[nodiscard]] Verdict judge_own_ports(Look& look);

// connection_port_rules.cpp: at the peer's port.
[[nodiscard]] Verdict judge_nothing_listens(Look& look);
[[nodiscard]] Verdict judge_other_address(Look& look);
[[nodiscard]] Verdict judge_dropped(Look& look);
[[nodiscard]] Verdict judge_rejected_port(Look& look);
[[nodiscard]] Verdict judge_rejected_host(Look& look);
[[nodiscard]] Verdict judge_reset_by_firewall(Look& look);
[[nodiscard]] Verdict judge_accept_queue(Look& look);
[[nodiscard]] Verdict judge_conntrack(Look& look);
[[nodiscard]] Verdict judge_data_port(Look& look);
[[nodiscard]] bool conntrack_is_full(Look& look, End end);

}  // namespace netbench::report
