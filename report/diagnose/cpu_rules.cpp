#include <array>

#include "report/diagnose/cpu_judges.hpp"

namespace netbench::report {

namespace {

constexpr std::array kThread = {Prediction{"more-streams", 1.2},
                                Prediction{"larger-message", 0, 1.5}};
constexpr std::array kContention = {Prediction{"other-core", 1.15}};
constexpr std::array kMemory = {Prediction{"discard", 1.15}, Prediction{"more-streams", 0.8, 1.25}};
constexpr std::array kSleep = {Prediction{"busy-latency", 0, 0.8}};

constexpr std::array kRules = {
    Rule{"cpu.one-thread", "K01", Scope::stream, Kind::limit, Severity::info, judge_one_thread,
         kThread},
    Rule{"cpu.one-softirq-core", "K02", Scope::stream, Kind::limit, Severity::info,
         judge_one_softirq_cpu},
    Rule{"cpu.interrupt-affinity", "K03", Scope::hosts, Kind::defect, Severity::warning,
         judge_interrupt_affinity},
    Rule{"cpu.contention", "K04", Scope::stream, Kind::limit, Severity::warning, judge_contention,
         kContention},
    Rule{"cpu.quota", "K05", Scope::stream, Kind::limit, Severity::problem, judge_quota},
    Rule{"cpu.clock-frequency", "K06", Scope::stream, Kind::limit, Severity::info,
         judge_clock_frequency},
    Rule{"cpu.sleep-states", "K07", Scope::round_trips, Kind::limit, Severity::info,
         judge_sleep_states, kSleep},
    Rule{"cpu.backlog-drops", "K08", Scope::stream, Kind::defect, Severity::warning,
         judge_backlog_drops},
    Rule{"cpu.backlog-drops-datagrams", "K08", Scope::datagrams, Kind::defect, Severity::warning,
         judge_backlog_drops},
    Rule{"cpu.softirq-budget", "K08", Scope::stream, Kind::note, Severity::info,
         judge_softirq_budget},
    Rule{"cpu.firewall", "K09", Scope::stream, Kind::note, Severity::info, judge_firewall},
    Rule{"cpu.packet-taps", "K10", Scope::stream, Kind::note, Severity::info, judge_packet_taps},
    Rule{"vm.steal", "K11", Scope::stream, Kind::note, Severity::info, judge_steal},
    Rule{"vm.single-queue", "K11", Scope::stream, Kind::limit, Severity::warning,
         judge_single_queue},
    Rule{"vm.no-offload", "K11", Scope::hosts, Kind::defect, Severity::warning,
         judge_virtual_offload},
    Rule{"container.path", "K12", Scope::hosts, Kind::note, Severity::info, judge_container_path},
    Rule{"cpu.memory-bandwidth", "K13", Scope::stream, Kind::limit, Severity::info,
         judge_memory_bandwidth, kMemory},
    Rule{"udp.receive-buffer", "K14", Scope::datagrams, Kind::limit, Severity::problem,
         judge_socket_overflow},
};

}  // namespace

RuleTable cpu_rules() { return kRules; }

}  // namespace netbench::report
