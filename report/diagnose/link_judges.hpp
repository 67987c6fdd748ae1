#pragma once

#include <string>

#include "report/diagnose/rule.hpp"

/// The judges of link_rules(), by what they look at. Private to report/diagnose.
namespace netbench::report {

// link_capacity_rules.cpp: what the wire and a shaper before it carry.
[[nodiscard]] Verdict judge_link_full(Look& look);
[[nodiscard]] Verdict judge_shaper(Look& look);
[[nodiscard]] Verdict judge_cloud_allowance(Look& look);
[[nodiscard]] Verdict judge_queue_drops(Look& look);

// link_error_rules.cpp: counters of damage, loss and pauses on the link.
[[nodiscard]] Verdict judge_bit_errors(Look& look);
[[nodiscard]] Verdict judge_fec_errors(Look& look);
[[nodiscard]] Verdict judge_flaps(Look& look);
[[nodiscard]] Verdict judge_receive_ring(Look& look);
[[nodiscard]] Verdict judge_pauses(Look& look);
[[nodiscard]] Verdict judge_collisions(Look& look);

// link_plane_rules.cpp: whether the traffic takes the network that was meant.
[[nodiscard]] Verdict judge_plane(Look& look);
[[nodiscard]] Verdict judge_other_interface(Look& look);

// link_module_rules.cpp: the plug-in module of the port.
[[nodiscard]] Verdict judge_dim_light(Look& look);
/// Where the cable of an end's interface leads to: "port Ethernet1/17 of leaf-4a" by LLDP, else
/// "the switch port".
[[nodiscard]] std::string switch_port(Look& look, End end);

// link_offload_rules.cpp: what the card does for the CPU, or does wrong.
[[nodiscard]] Verdict judge_offload_off(Look& look);
[[nodiscard]] Verdict judge_checksum_offload(Look& look);
[[nodiscard]] Verdict judge_receive_offload(Look& look);
[[nodiscard]] Verdict judge_coalescing(Look& look);

// link_cable_rules.cpp: what a cable test said.
[[nodiscard]] Verdict judge_cable_pair(Look& look);

}  // namespace netbench::report
