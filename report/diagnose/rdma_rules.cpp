#include <array>

#include "report/diagnose/rdma_judges.hpp"

namespace netbench::report {

namespace {

constexpr auto kInfo = Severity::info;
constexpr auto kWarning = Severity::warning;
constexpr auto kProblem = Severity::problem;

// What experiments on verbs rows show where a class is the cause.
constexpr std::array kFullPath{Prediction{"more-queue-pairs", 0.9, 1.1},
                               Prediction{"deeper-queue", 0.9, 1.1},
                               Prediction{"relaxed-ordering", 0.9, 1.1}};
constexpr std::array kOneQueuePair{Prediction{"more-queue-pairs", 1.25},
                                   Prediction{"deeper-queue", 0.9, 1.2}};
constexpr std::array kQueueDepth{Prediction{"deeper-queue", 1.25},
                                 Prediction{"more-queue-pairs", 1.25}};
constexpr std::array kReadDepth{Prediction{"write-instead-of-read", 1.2},
                                Prediction{"more-queue-pairs", 1.25}};
constexpr std::array kSmallMessages{Prediction{"larger-message", 1.25}};
constexpr std::array kOrdering{Prediction{"relaxed-ordering", 1.1},
                               Prediction{"more-queue-pairs", 0.9, 1.15}};
constexpr std::array kFarNode{Prediction{"near-node", 1.05}};
constexpr std::array kPathMtu{Prediction{"larger-path-mtu", 1.01, 1.25}};
constexpr std::array kPriority{Prediction{"traffic-class", 1.1}};

constexpr Rule of_hosts(std::string_view id, std::string_view class_id, Kind kind,
                        Severity severity, Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::hosts, kind, severity, judge};
}

constexpr Rule of_failures(std::string_view id, std::string_view class_id,
                           Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::verbs_failure, Kind::defect, kProblem, judge};
}

constexpr Rule defect(std::string_view id, std::string_view class_id, Severity severity,
                      Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::verbs_stream, Kind::defect, severity, judge};
}

constexpr Rule limit(std::string_view id, std::string_view class_id, Severity severity,
                     Verdict (*judge)(Look&), std::span<const Prediction> predictions = {}) {
  return {id, class_id, Scope::verbs_stream, Kind::limit, severity, judge, predictions};
}

constexpr std::array kRules = {
    of_hosts("rdma.access", "R01", Kind::defect, kWarning, judge_rdma_access),
    of_hosts("rdma.port-down", "R01", Kind::defect, kWarning, judge_rdma_port),
    of_hosts("rdma.no-subnet-manager", "R01", Kind::defect, kWarning, judge_rdma_subnet_manager),
    of_hosts("rdma.partition", "R01", Kind::defect, kWarning, judge_rdma_partition),
    of_hosts("rdma.gid-pair", "R02", Kind::defect, kWarning, judge_rdma_gid_pair),
    of_hosts("rdma.one-subnet", "R02", Kind::note, kInfo, judge_rdma_one_subnet),
    of_hosts("rdma.lanes", "R08", Kind::defect, kWarning, judge_rdma_lanes),
    of_hosts("rdma.rates-differ", "R08", Kind::defect, kWarning, judge_rdma_rates_differ),
    of_hosts("rdma.locked-memory", "R13", Kind::note, kInfo, judge_rdma_locked_memory),
    of_hosts("rdma.software", "R15", Kind::note, kInfo, judge_rdma_software),
    of_hosts("rdma.software-by-mistake", "R15", Kind::defect, kWarning,
             judge_rdma_software_by_mistake),
    of_hosts("rdma.firmware", "V01", Kind::note, kInfo, judge_rdma_firmware),
    of_hosts("rdma.slot-degraded", "P02", Kind::defect, kWarning, judge_rdma_slot_degraded),
    of_hosts("rdma.slot-narrow", "P02", Kind::defect, kWarning, judge_rdma_slot_narrow),
    of_hosts("rdma.iommu", "P04", Kind::note, kInfo, judge_rdma_iommu),

    defect("rdma.wrong-data", "R11", kProblem, judge_rdma_data_errors),
    defect("rdma.priority", "R03", kProblem, judge_rdma_priority),
    defect("rdma.loss", "R04", kWarning, judge_rdma_loss),
    defect("rdma.congestion", "R05", kWarning, judge_rdma_congestion),
    defect("rdma.pause", "R06", kWarning, judge_rdma_pause),
    defect("rdma.receiver-not-ready", "R07", kWarning, judge_rdma_receiver_not_ready),
    defect("rdma.link-errors", "R09", kWarning, judge_rdma_link_errors),
    defect("rdma.damaged", "R09", kWarning, judge_rdma_damaged),
    defect("rdma.credits", "R10", kWarning, judge_rdma_credits),
    defect("rdma.sibling-rails", "R08", kWarning, judge_rdma_sibling_rails),
    Rule{"rdma.counters-foreign", "R04", Scope::verbs_stream, Kind::note, kInfo,
         judge_rdma_counters_foreign},

    limit("rdma.link-full", "L01", kInfo, judge_rdma_link_full, kFullPath),
    limit("rdma.slot-full", "P02", kWarning, judge_rdma_slot_full, kFullPath),
    limit("rdma.shaper", "L16", kWarning, judge_rdma_shaper, kFullPath),
    limit("rdma.one-queue-pair", "R12", kWarning, judge_rdma_one_queue_pair, kOneQueuePair),
    limit("rdma.queue-depth", "R12", kWarning, judge_rdma_queue_depth, kQueueDepth),
    limit("rdma.read-depth", "R12", kWarning, judge_rdma_read_depth, kReadDepth),
    limit("rdma.small-messages", "R12", kWarning, judge_rdma_small_messages, kSmallMessages),
    limit("rdma.ordering", "R11", kWarning, judge_rdma_ordering, kOrdering),
    limit("rdma.path-mtu", "M06", kInfo, judge_rdma_path_mtu, kPathMtu),
    limit("rdma.connection-manager", "R14", kWarning, judge_rdma_connection_manager),
    limit("rdma.far-node", "P01", kWarning, judge_rdma_far_node, kFarNode),
    limit("rdma.far-below", "R08", kWarning, judge_rdma_far_below),

    Rule{"rdma.ordering-latency", "R11", Scope::verbs_round_trips, Kind::defect, kWarning,
         judge_rdma_ordering_latency},

    of_failures("rdma.not-available", "R01", judge_rdma_not_available),
    of_failures("rdma.went-down", "R01", judge_rdma_went_down),
    of_failures("rdma.gids-do-not-fit", "R02", judge_rdma_gids_do_not_fit),
    of_failures("rdma.no-route", "R02", judge_rdma_no_route),
    of_failures("rdma.class-not-lossless", "R03", judge_rdma_class_not_lossless),
    of_failures("rdma.never-arrived", "C02", judge_rdma_never_arrived),
    of_failures("rdma.path-mtu-too-large", "M06", judge_rdma_mtu_too_large),
    of_failures("rdma.no-answer", "R04", judge_rdma_lost_on_the_way),
    of_failures("rdma.receiver-gave-none", "R07", judge_rdma_failed_receiver),
    of_failures("rdma.cannot-pin", "R13", judge_rdma_cannot_pin),
    of_failures("rdma.wrong-contents", "R11", judge_rdma_wrong_contents),
    of_failures("rdma.peer-gone", "R17", judge_rdma_peer_gone),
    of_failures("rdma.refused", "R16", judge_rdma_memory_refused),
    of_failures("rdma.failed", "R17", judge_rdma_failed)};

}  // namespace

RuleTable rdma_rules() { return kRules; }

}  // namespace netbench::report
