#include <array>

#include "report/diagnose/window_judges.hpp"

namespace netbench::report {

namespace {

// Factors measured by changing one thing at a time; "no change" allows for what two equal runs
// differ by.
constexpr double kNoLess = 0.85;
constexpr double kNoMore = 1.2;

constexpr std::array kReceiveBuffer = {Prediction{"larger-rcvbuf", 1.2},
                                       Prediction{"more-streams", 1.3},
                                       Prediction{"larger-sndbuf", kNoLess, kNoMore}};
constexpr std::array kReceiveCeiling = {Prediction{"more-streams", 1.3},
                                        Prediction{"larger-sndbuf", kNoLess, kNoMore}};
constexpr std::array kUnscaled = {Prediction{"more-streams", 1.3},
                                  Prediction{"larger-rcvbuf", kNoLess, kNoMore},
                                  Prediction{"larger-sndbuf", kNoLess, kNoMore}};
constexpr std::array kSendBuffer = {Prediction{"larger-sndbuf", 1.2},
                                    Prediction{"more-streams", 1.3},
                                    Prediction{"larger-rcvbuf", kNoLess, kNoMore}};
constexpr std::array kReader = {Prediction{"no-read-rate", 1.2},
                                Prediction{"larger-sndbuf", kNoLess, kNoMore}};
constexpr std::array kWriter = {Prediction{"no-write-rate", 1.2},
                                Prediction{"larger-sndbuf", kNoLess, kNoMore},
                                Prediction{"larger-rcvbuf", kNoLess, kNoMore}};
constexpr std::array kPacing = {Prediction{"more-streams", 1.5},
                                Prediction{"larger-rcvbuf", kNoLess, kNoMore},
                                Prediction{"larger-sndbuf", kNoLess, kNoMore}};
constexpr std::array kCongestion = {Prediction{"other-congestion", 1.2}};
constexpr std::array kNagle = {Prediction{"nodelay", 0, 0.3}};
constexpr std::array kSmallWrites = {Prediction{"larger-message", 2}};

constexpr std::array kRules = {
    Rule{"tcp.receive-buffer", "W01", Scope::stream, Kind::limit, Severity::problem,
         judge_receive_buffer, kReceiveBuffer},
    Rule{"tcp.receive-autotuning-ceiling", "W02", Scope::stream, Kind::limit, Severity::problem,
         judge_receive_ceiling, kReceiveCeiling},
    Rule{"tcp.receive-autotuning-off", "W03", Scope::stream, Kind::limit, Severity::problem,
         judge_receive_tuning_off, kReceiveBuffer},
    Rule{"tcp.window-scaling-off", "W04", Scope::stream, Kind::limit, Severity::problem,
         judge_window_scaling, kUnscaled},
    Rule{"tcp.send-buffer", "W05", Scope::stream, Kind::limit, Severity::problem, judge_send_buffer,
         kSendBuffer},
    Rule{"app.slow-reader", "W06", Scope::stream, Kind::limit, Severity::problem, judge_slow_reader,
         kReader},
    Rule{"app.slow-writer", "W07", Scope::stream, Kind::limit, Severity::problem, judge_slow_writer,
         kWriter},
    Rule{"tcp.memory-pressure", "W08", Scope::stream, Kind::defect, Severity::problem,
         judge_memory_pressure},
    Rule{"tcp.pacing", "W09", Scope::stream, Kind::limit, Severity::problem, judge_pacing, kPacing},
    Rule{"tcp.still-growing", "W10", Scope::stream, Kind::limit, Severity::warning, judge_growing,
         kCongestion},
    Rule{"tcp.nagle", "W11", Scope::round_trips, Kind::limit, Severity::problem, judge_nagle,
         kNagle},
    Rule{"tcp.slow-start-after-idle", "W12", Scope::stream, Kind::limit, Severity::warning,
         judge_slow_start_after_idle},
    Rule{"tcp.options-off", "W13", Scope::stream, Kind::defect, Severity::warning,
         judge_options_off},
    Rule{"app.small-writes", "W14", Scope::stream, Kind::limit, Severity::problem,
         judge_small_writes, kSmallWrites},
};

}  // namespace

RuleTable window_rules() { return kRules; }

}  // namespace netbench::report
