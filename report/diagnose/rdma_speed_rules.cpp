#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/rdma_trials.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

constexpr double kNear = 0.6;
constexpr double kLinkFull = 0.9;
/// Below this a known wire leaves a question.
constexpr double kFullEnough = 0.85;
/// All states healthy and less than this: a card that was not brought up well.
constexpr double kFarBelow = 0.15;
/// Messages from which a card is at its rate.
constexpr std::int64_t kLongMessage = 65536;
/// One queue pair is the limit where several carry so much more (perftest's practice: 4 of 1 /
/// 0.8).
constexpr double kMorePairs = 1.25;

/// Why a row with room above it is not judged, or nothing.
std::optional<Verdict> no_room(Look& look) {
  const auto wire = look.nearness("wire");
  if (wire && *wire >= kFullEnough) {
    return silent(fmt::format("{:.0f} % of the wire", 100 * *wire));
  }
  return std::nullopt;
}

double queue_pairs(Look& look) { return look.setting(End::sender, "verbs.qps").value_or(1); }

Verdict near_bound(Look& look, const char* id, const char* what, const char* remedy) {
  const Bound* bound = look.bound(id);
  if (bound == nullptr) {
    return unknown(fmt::format("the limit of {} is not known", what));
  }
  const std::string why = fmt::format("{:.0f} % of {} = {}", 100 * bound->nearness,
                                      format_bits_per_second(*bound->limit_bps), bound->arithmetic);
  if (bound->nearness < kNear || bound->nearness > 1.3) {
    return silent(why);
  }
  return fires(Confidence::likely, std::min(1.0, bound->nearness), why,
               fmt::format("{} limits this row: {}", what, why), {remedy});
}

}  // namespace

Verdict judge_rdma_link_full(Look& look) {
  const auto wire = look.nearness("wire");
  if (!wire) {
    return unknown("the wire's limit is not known");
  }
  const std::string why = fmt::format("{:.1f} % of what the wire can carry", 100 * *wire);
  return *wire < kLinkFull || *wire > 1.3
             ? silent(why)
             : fires(Confidence::likely, std::min(1.0, *wire), why, "the link is full: " + why,
                     {"a faster link, or several rails at once"});
}

Verdict judge_rdma_shaper(Look& look) {
  if (!is_software(look)) {
    return silent("a card sends past the host's queueing disciplines");
  }
  const auto over = look.total(End::sender, "qdisc.*.overlimits");
  const std::string device = look.interface(End::sender);
  if (!over) {
    return unknown("the queueing discipline was not read");
  }
  const std::string why =
      fmt::format("{:.0f} packets held back by {}'s queueing discipline", *over, device);
  if (!shaped_at_the_sender(look)) {
    return silent(why);
  }
  return fires(
      Confidence::likely, 0.9, why, "a shaper in front of software RDMA limits it: " + why,
      {fmt::format("on {}: tc -s qdisc show dev {}", look.host_name(End::sender), device)});
}

Verdict judge_rdma_one_queue_pair(Look& look) {
  if (const auto verdict = no_room(look)) {
    return *verdict;
  }
  if (queue_pairs(look) > 1) {
    return silent(fmt::format("{:.0f} queue pairs", queue_pairs(look)));
  }
  const std::vector<std::string> remedy = {
      "several queue pairs: --verbs.qps 4 (of NCCL NCCL_IB_QPS_PER_CONNECTION), with flow labels "
      "of their own where paths are hashed"};
  if (const auto trial = tried(look, "more-queue-pairs", "verbs.qps", {4, 8, 16, 2})) {
    const std::string why = fmt::format("x{:.2f} with more queue pairs than one", *trial);
    return *trial < kMorePairs
               ? silent(why)
               : fires(Confidence::likely, std::min(1.0, 0.6 + 0.1 * *trial), why,
                       "one queue pair does not fill this path (one core, one hashed path or one "
                       "member of a bond): " +
                           why,
                       remedy);
  }
  if (!look.nearness("wire") || is_software(look)) {
    return unknown("no row has more queue pairs");
  }
  const std::string why = fmt::format("one queue pair, {:.0f} % of the wire, and no row with more",
                                      100 * look.nearness("wire").value_or(0));
  return fires(Confidence::possible, 0.5, why, "one queue pair may not fill this path: " + why,
               remedy);
}

Verdict judge_rdma_queue_depth(Look& look) {
  return near_bound(look, "work-queue", "the depth of the send queue",
                    "a deeper queue: --verbs.tx_depth, or larger messages, or more queue pairs");
}

Verdict judge_rdma_read_depth(Look& look) {
  return near_bound(look, "read-depth", "the number of reads under way",
                    "--verbs.read_depth up to what both cards take (max_qp_rd_atom), larger "
                    "messages, more queue pairs, or write instead of read");
}

Verdict judge_rdma_small_messages(Look& look) {
  if (const auto verdict = no_room(look)) {
    return *verdict;
  }
  const Measurement& row = *look.row();
  if (row.size_bytes >= kLongMessage) {
    return silent(fmt::format("messages of {}", format_bytes(row.size_bytes)));
  }
  const auto half = look.sibling_ratio("size", Value(row.size_bytes / 4));
  const auto moved = look.moved("larger-message");
  if (!half && moved == nullptr) {
    return unknown("no row has another size");
  }
  const bool rises = moved != nullptr ? moved->ratio > kMorePairs : *half < 1 / kMorePairs;
  const std::string why = moved != nullptr
                              ? fmt::format("x{:.2f} with larger messages", moved->ratio)
                              : fmt::format("messages of a quarter reach {:.0f} %", 100 * *half);
  return rises ? fires(Confidence::likely, 0.8, why,
                       fmt::format("messages of {} are too small for this card's rate: {}",
                                   format_bytes(row.size_bytes), why),
                       {"larger messages, 64 KiB and more; for small ones --verbs.post_list 32 and "
                        "several queue pairs with a thread each"})
               : silent(why);
}

Verdict judge_rdma_far_below(Look& look) {
  const auto wire = look.nearness("wire");
  if (!wire || is_software(look)) {
    return unknown(wire ? "software RDMA" : "the wire's limit is not known");
  }
  const std::string why = fmt::format("{:.1f} % of the wire with messages of {}", 100 * *wire,
                                      format_bytes(look.row()->size_bytes));
  const double others = nearest_bound(look, {"pcie", "work-queue", "read-depth"}).value_or(0);
  if (*wire >= kFarBelow || look.row()->size_bytes < kLongMessage || others >= kNear) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.65, why,
               "everything says it is healthy, and hardly anything passes: the card may have come "
               "up degraded (" +
                   why + ")",
               {"power-cycle the host (not a reboot alone), or reset the card: mlxfwreset -d … "
                "reset; then measure again",
                "its slot under load: lspci -vv | grep LnkSta; power and temperature limits of the "
                "card: dmesg"});
}

}  // namespace netbench::report
