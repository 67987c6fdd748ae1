#include <array>

#include "report/diagnose/path_judges.hpp"

namespace netbench::report {

namespace {

// Measured sums over streams: a shared limit keeps its own (0.95 … 1.05 with four times as many), a
// limit of each flow does not (2.9 … 3.6).
constexpr std::array kQueue = {
    Prediction{"more-streams", 0.85, 1.15}, Prediction{"half-mss", 0.8, 1.05},
    Prediction{"larger-rcvbuf", 0.85, 1.15}, Prediction{"larger-sndbuf", 0.85, 1.15}};
constexpr std::array kShallow = {Prediction{"more-streams", 0.7, 1.35},
                                 Prediction{"larger-rcvbuf", 0.6, 1.4},
                                 Prediction{"larger-sndbuf", 0.6, 1.4}};
constexpr std::array kPolicer = {Prediction{"more-streams", 0.5, 1.25}};
constexpr std::array kLoss = {Prediction{"more-streams", 1.5},
                              Prediction{"larger-rcvbuf", 0.6, 1.4},
                              Prediction{"larger-sndbuf", 0.6, 1.4}};

constexpr std::array kRules = {
    Rule{"path.remote-bottleneck", "Q01", Scope::stream, Kind::limit, Severity::warning,
         judge_remote_bottleneck, kQueue},
    Rule{"path.shallow-buffer", "Q02", Scope::stream, Kind::limit, Severity::warning,
         judge_shallow_buffer, kShallow},
    Rule{"path.policer", "Q03", Scope::stream, Kind::limit, Severity::problem, judge_policer,
         kPolicer},
    Rule{"path.loss", "Q04", Scope::stream, Kind::limit, Severity::problem, judge_random_loss,
         kLoss},
    Rule{"path.loss-beside", "Q04", Scope::stream, Kind::defect, Severity::problem,
         judge_loss_beside_a_shaper},
    Rule{"path.datagram-loss", "Q04", Scope::datagrams, Kind::note, Severity::info,
         judge_datagram_loss},
    Rule{"path.reordering", "Q05", Scope::stream, Kind::defect, Severity::warning,
         judge_reordering},
    Rule{"path.cross-traffic", "Q06", Scope::stream, Kind::limit, Severity::warning,
         judge_cross_traffic},
    Rule{"path.uneven", "Q07", Scope::stream, Kind::limit, Severity::warning, judge_uneven_paths},
    Rule{"path.ack-loss", "Q08", Scope::stream, Kind::defect, Severity::problem, judge_ack_loss},
    Rule{"path.corruption", "Q09", Scope::stream, Kind::defect, Severity::problem,
         judge_corruption},
    Rule{"path.detour", "Q10", Scope::hosts, Kind::note, Severity::info, judge_detour},
};

}  // namespace

RuleTable path_rules() { return kRules; }

}  // namespace netbench::report
