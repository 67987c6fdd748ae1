#pragma once

#include "report/diagnose/rule.hpp"

/// The judges of rdma_rules(), by what they look at. Private to report/diagnose.
namespace netbench::report {

// rdma_port_rules.cpp: devices and ports, before any traffic.
[[nodiscard]] Verdict judge_rdma_access(Look& look);
[[nodiscard]] Verdict judge_rdma_port(Look& look);
[[nodiscard]] Verdict judge_rdma_subnet_manager(Look& look);
[[nodiscard]] Verdict judge_rdma_partition(Look& look);
[[nodiscard]] Verdict judge_rdma_lanes(Look& look);
[[nodiscard]] Verdict judge_rdma_rates_differ(Look& look);
[[nodiscard]] Verdict judge_rdma_locked_memory(Look& look);
[[nodiscard]] Verdict judge_rdma_software(Look& look);
[[nodiscard]] Verdict judge_rdma_software_by_mistake(Look& look);
[[nodiscard]] Verdict judge_rdma_firmware(Look& look);

// rdma_gid_rules.cpp: addresses.
[[nodiscard]] Verdict judge_rdma_gid_pair(Look& look);
[[nodiscard]] Verdict judge_rdma_one_subnet(Look& look);

// rdma_slot_rules.cpp: slots and NUMA nodes of rails.
[[nodiscard]] Verdict judge_rdma_slot_degraded(Look& look);
[[nodiscard]] Verdict judge_rdma_slot_narrow(Look& look);
[[nodiscard]] Verdict judge_rdma_slot_full(Look& look);
[[nodiscard]] Verdict judge_rdma_iommu(Look& look);
[[nodiscard]] Verdict judge_rdma_far_node(Look& look);

// rdma_loss_rules.cpp: what the cards counted during a row.
[[nodiscard]] Verdict judge_rdma_loss(Look& look);
[[nodiscard]] Verdict judge_rdma_receiver_not_ready(Look& look);
[[nodiscard]] Verdict judge_rdma_link_errors(Look& look);
[[nodiscard]] Verdict judge_rdma_damaged(Look& look);
[[nodiscard]] Verdict judge_rdma_data_errors(Look& look);
[[nodiscard]] Verdict judge_rdma_counters_foreign(Look& look);

// rdma_flow_rules.cpp: flow control and congestion.
[[nodiscard]] Verdict judge_rdma_priority(Look& look);
[[nodiscard]] Verdict judge_rdma_congestion(Look& look);
[[nodiscard]] Verdict judge_rdma_pause(Look& look);
[[nodiscard]] Verdict judge_rdma_credits(Look& look);

// rdma_speed_rules.cpp: why a row is not faster.
[[nodiscard]] Verdict judge_rdma_link_full(Look& look);
[[nodiscard]] Verdict judge_rdma_shaper(Look& look);
[[nodiscard]] Verdict judge_rdma_one_queue_pair(Look& look);
[[nodiscard]] Verdict judge_rdma_queue_depth(Look& look);
[[nodiscard]] Verdict judge_rdma_read_depth(Look& look);
[[nodiscard]] Verdict judge_rdma_small_messages(Look& look);
[[nodiscard]] Verdict judge_rdma_far_below(Look& look);

// rdma_setting_rules.cpp: what other rows of the same document show about a setting.
[[nodiscard]] Verdict judge_rdma_ordering(Look& look);
[[nodiscard]] Verdict judge_rdma_ordering_latency(Look& look);
[[nodiscard]] Verdict judge_rdma_path_mtu(Look& look);
[[nodiscard]] Verdict judge_rdma_connection_manager(Look& look);
[[nodiscard]] Verdict judge_rdma_sibling_rails(Look& look);

// rdma_failure_rules.cpp: a row to which no answer came.
[[nodiscard]] Verdict judge_rdma_never_arrived(Look& look);
[[nodiscard]] Verdict judge_rdma_lost_on_the_way(Look& look);
[[nodiscard]] Verdict judge_rdma_class_not_lossless(Look& look);
[[nodiscard]] Verdict judge_rdma_mtu_too_large(Look& look);
[[nodiscard]] Verdict judge_rdma_gids_do_not_fit(Look& look);

// rdma_refusal_rules.cpp: a row that this host, its device or the peer refused or ended.
[[nodiscard]] Verdict judge_rdma_cannot_pin(Look& look);
[[nodiscard]] Verdict judge_rdma_failed_receiver(Look& look);
[[nodiscard]] Verdict judge_rdma_went_down(Look& look);
[[nodiscard]] Verdict judge_rdma_not_available(Look& look);
[[nodiscard]] Verdict judge_rdma_peer_gone(Look& look);
[[nodiscard]] Verdict judge_rdma_wrong_contents(Look& look);
[[nodiscard]] Verdict judge_rdma_no_route(Look& look);
[[nodiscard]] Verdict judge_rdma_memory_refused(Look& look);
[[nodiscard]] Verdict judge_rdma_failed(Look& look);

}  // namespace netbench::report
