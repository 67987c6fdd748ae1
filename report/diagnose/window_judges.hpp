#pragma once

#include "report/diagnose/rule.hpp"

/// The judges of window_rules(), by what they look at. Private to report/diagnose.
namespace netbench::report {

// receive_window_rules.cpp: what the receiver lets in.
[[nodiscard]] Verdict judge_receive_buffer(Look& look);
[[nodiscard]] Verdict judge_receive_ceiling(Look& look);
[[nodiscard]] Verdict judge_receive_tuning_off(Look& look);
[[nodiscard]] Verdict judge_window_scaling(Look& look);
[[nodiscard]] Verdict judge_memory_pressure(Look& look);

// send_rules.cpp: what the sender lets out.
[[nodiscard]] Verdict judge_send_buffer(Look& look);
[[nodiscard]] Verdict judge_pacing(Look& look);

// congestion_rules.cpp: how the sender finds its rate.
[[nodiscard]] Verdict judge_growing(Look& look);
[[nodiscard]] Verdict judge_slow_start_after_idle(Look& look);
[[nodiscard]] Verdict judge_options_off(Look& look);

// application_rules.cpp: who uses the sockets, and how.
[[nodiscard]] Verdict judge_slow_reader(Look& look);
[[nodiscard]] Verdict judge_slow_writer(Look& look);
[[nodiscard]] Verdict judge_small_writes(Look& look);
[[nodiscard]] Verdict judge_nagle(Look& look);

}  // namespace netbench::report
