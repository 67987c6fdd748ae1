#pragma once

#include <optional>

#include "report/diagnose/rule.hpp"

/// The judges of cpu_rules(), by what they look at. Private to report/diagnose.
namespace netbench::report {

// cpu_thread_rules.cpp: the threads that carry the payload.
[[nodiscard]] Verdict judge_one_thread(Look& look);
[[nodiscard]] Verdict judge_contention(Look& look);
[[nodiscard]] Verdict judge_quota(Look& look);
[[nodiscard]] Verdict judge_clock_frequency(Look& look);
[[nodiscard]] Verdict judge_memory_bandwidth(Look& look);
[[nodiscard]] Verdict judge_sleep_states(Look& look);

// cpu_softirq_rules.cpp: interrupts and what runs in them.
[[nodiscard]] Verdict judge_one_softirq_cpu(Look& look);
[[nodiscard]] Verdict judge_interrupt_affinity(Look& look);
[[nodiscard]] Verdict judge_backlog_drops(Look& look);
[[nodiscard]] Verdict judge_softirq_budget(Look& look);
[[nodiscard]] Verdict judge_single_queue(Look& look);
[[nodiscard]] Verdict judge_socket_overflow(Look& look);

// cpu_host_rules.cpp: what else the hosts run.
[[nodiscard]] Verdict judge_firewall(Look& look);
[[nodiscard]] Verdict judge_packet_taps(Look& look);
[[nodiscard]] Verdict judge_steal(Look& look);
[[nodiscard]] Verdict judge_virtual_offload(Look& look);
[[nodiscard]] Verdict judge_container_path(Look& look);

/// A limit of the CPU is worth a warning where the wire is known to carry more; else it is what
/// this host can do, and information.
[[nodiscard]] Severity severity_by_wire(Look& look);

/// The CPU of an end that spends most of its time in softirq while the others have time.
struct SoftirqCpu {
  std::string cpu;
  double busy = 0;  // shares of the elapsed time
  double softirq = 0;
  double others = 0;  // mean of the other CPUs
};
/// Of the CPU with the most softirq; nothing where it was not read.
[[nodiscard]] std::optional<SoftirqCpu> softirq_cpu(Look& look, End end);
[[nodiscard]] bool is_overloaded(const SoftirqCpu& cpu);

}  // namespace netbench::report
