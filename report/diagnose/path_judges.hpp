#pragma once

#include <optional>

#include "report/diagnose/rule.hpp"

/// The judges of path_rules(), by what they look at. Private to report/diagnose.
namespace netbench::report {

// path_queue_rules.cpp: a slow or shared or longer way.
[[nodiscard]] Verdict judge_remote_bottleneck(Look& look);
[[nodiscard]] Verdict judge_cross_traffic(Look& look);
[[nodiscard]] Verdict judge_uneven_paths(Look& look);
[[nodiscard]] Verdict judge_detour(Look& look);

// path_loss_rules.cpp: segments that the path drops.
[[nodiscard]] Verdict judge_shallow_buffer(Look& look);
[[nodiscard]] Verdict judge_policer(Look& look);
[[nodiscard]] Verdict judge_random_loss(Look& look);
[[nodiscard]] Verdict judge_loss_beside_a_shaper(Look& look);

// path_damage_rules.cpp: what it delays, damages or drops on the way back; datagrams.
[[nodiscard]] Verdict judge_reordering(Look& look);
[[nodiscard]] Verdict judge_ack_loss(Look& look);
[[nodiscard]] Verdict judge_corruption(Look& look);
[[nodiscard]] Verdict judge_datagram_loss(Look& look);

/// Share of segments that the sender saw out of order; nothing where it was not counted.
[[nodiscard]] std::optional<double> reordered_share(Look& look);
/// Share of the receiver's acknowledgements that never came back. Both ends count segments, so this
/// is exact.
[[nodiscard]] std::optional<double> ack_loss_share(Look& look);
/// A queue stands on the path: the round trip is longer than its smallest by more than a slow
/// reader or a busy host explain (measured: those stay below 4 ms beyond LANs).
[[nodiscard]] bool has_standing_queue(Look& look);

}  // namespace netbench::report
