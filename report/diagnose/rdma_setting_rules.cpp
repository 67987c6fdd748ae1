#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/rdma_trials.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

std::optional<double> tried(Look& look, std::string_view experiment, std::string_view tunable,
                            const Value& value) {
  const Intervention* moved = look.moved(experiment);
  return moved != nullptr ? std::optional(moved->ratio) : look.sibling_ratio(tunable, value);
}

std::optional<double> tried(Look& look, std::string_view experiment, std::string_view tunable,
                            std::initializer_list<std::int64_t> values) {
  for (const std::int64_t value : values) {
    if (const auto ratio = tried(look, experiment, tunable, Value(value))) {
      return ratio;
    }
  }
  return std::nullopt;
}

namespace {

constexpr double kFullEnough = 0.85;
/// By that much relaxed ordering, or its absence, has to change a row.
constexpr double kOrdering = 1.10;
/// A connection manager's path that costs so much more.
constexpr double kManager = 1.5;
/// Slower than its siblings by more, and a rail stands out.
constexpr double kSibling = 0.9;

bool is_on(Look& look, End end, const char* name) {
  return look.setting(end, name).value_or(0) != 0;
}

/// The round trip of the row that differs in this alone, over this row's.
std::optional<double> latency_ratio(Look& look, std::string_view tunable, const Value& value) {
  const Measurement& own = *look.row();
  const auto& rows = look.document().measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& rtt = rows[i].summary.rtt_p50_ns;
    if (rtt && own.summary.rtt_p50_ns && differs_only_in(own, rows[i], tunable, value)) {
      look.cite(fmt::format("/measurements/{}/summary/rtt_p50_ns", i));
      return *rtt / *own.summary.rtt_p50_ns;
    }
  }
  return std::nullopt;
}

std::vector<std::string> ordering_remedy(bool on) {
  return on ? std::vector<std::string>{"register memory with IBV_ACCESS_RELAXED_ORDERING: "
                                       "--verbs.relaxed_ordering on (of NCCL "
                                       "NCCL_IB_PCI_RELAXED_ORDERING=1)",
                                       "or PCI_WR_ORDERING in the card's firmware"}
            : std::vector<std::string>{"--verbs.relaxed_ordering off (of NCCL "
                                       "NCCL_IB_PCI_RELAXED_ORDERING=0): this CPU handles relaxed "
                                       "ordering badly",
                                       "or PCI_WR_ORDERING=per_mkey in the card's firmware"};
}

}  // namespace

Verdict judge_rdma_ordering(Look& look) {
  if (is_software(look)) {
    return silent("software RDMA writes memory with the CPU");
  }
  const bool on = is_on(look, End::receiver, "verbs.relaxed_ordering");
  const auto ratio = tried(look, "relaxed-ordering", "verbs.relaxed_ordering", Value(!on));
  if (ratio) {
    const std::string why =
        fmt::format("x{:.2f} with relaxed ordering {}", *ratio, on ? "off" : "on");
    return *ratio < kOrdering ? silent(why)
                              : fires(Confidence::likely, std::min(1.0, 0.5 + 0.4 * *ratio), why,
                                      "the order of the card's PCIe writes limits it: " + why,
                                      ordering_remedy(!on));
  }
  const auto wire = look.nearness("wire");
  if (!wire || on) {
    return unknown("no row has it the other way");
  }
  const std::string why = fmt::format("{:.0f} % of the wire without relaxed ordering", 100 * *wire);
  return *wire >= kFullEnough ? silent(why)
                              : fires(Confidence::possible, 0.4, why,
                                      "strictly ordered PCIe writes may limit the card: " + why,
                                      ordering_remedy(true));
}

Verdict judge_rdma_ordering_latency(Look& look) {
  const bool on = is_on(look, End::receiver, "verbs.relaxed_ordering");
  const auto ratio = latency_ratio(look, "verbs.relaxed_ordering", Value(!on));
  if (!ratio) {
    return unknown("no row has relaxed ordering the other way");
  }
  const std::string why =
      fmt::format("round trips x{:.3g} with relaxed ordering {}", *ratio, on ? "off" : "on");
  if (*ratio > 1 / kManager) {
    return silent(why);
  }
  return fires(
      Confidence::confirmed, 0.95, why,
      fmt::format("relaxed ordering {} is slow on this host's CPU: {}", on ? "on" : "off", why),
      ordering_remedy(!on));
}

Verdict judge_rdma_path_mtu(Look& look) {
  const auto used = look.setting(End::sender, "verbs.path_mtu");
  const auto near = rail_fact(look, End::sender, rail_of(look, End::sender), "active_mtu_bytes");
  const auto far = rail_fact(look, End::receiver, rail_of(look, End::receiver), "active_mtu_bytes");
  if (!used || !near || !far) {
    return unknown("the path MTU in effect, or that of a port, is not known");
  }
  const double possible = std::min(*near, *far);
  const std::string why = fmt::format("path MTU {:.0f}, the ports could {:.0f}", *used, possible);
  if (*used >= possible || look.asked_for("verbs.path_mtu")) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.5, why,
               "the path MTU is smaller than both ports allow: " + why,
               {fmt::format("--verbs.path_mtu {:.0f}", possible)});
}

Verdict judge_rdma_connection_manager(Look& look) {
  const std::string now = look.setting_text(End::sender, "verbs.connect").value_or("");
  const std::string other = now == "rdma_cm" ? "exchange" : "rdma_cm";
  if (now.empty()) {
    return unknown("how the queue pairs were connected is not known");
  }
  const auto ratio = tried(look, "other-connect", "verbs.connect", Value(other));
  if (!ratio) {
    return unknown("no row was connected the other way");
  }
  const std::string why =
      fmt::format("x{:.2f} when connected by {} instead of {}", *ratio, other, now);
  const bool manager_is_slow =
      now == "rdma_cm" ? *ratio > kManager : *ratio > 0 && *ratio < 1 / kManager;
  if (!manager_is_slow) {
    return silent(why);
  }
  return fires(Confidence::confirmed, 0.8, why,
               "queue pairs that rdma_cm connects take another path or class: " + why,
               {"the type of service and the RoCE version of rdma_cm (configfs rdma_cm/<device>/"
                "ports/1/default_roce_tos, default_roce_mode; cma_roce_tos)",
                "the address that the peer's name resolves to: does it lead to the same rail?"});
}

Verdict judge_rdma_sibling_rails(Look& look) {
  const Measurement& own = *look.row();
  const auto asked = [](const Measurement& row) {
    const auto found = row.tunables.requested.find("verbs.device");
    return found == row.tunables.requested.end() ? Value{} : found->second;
  };
  std::vector<double> others;
  const auto& rows = look.document().measurements;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].summary.goodput_bps && asked(rows[i]) != asked(own) &&
        differs_only_in(own, rows[i], "verbs.device", asked(rows[i]))) {
      look.cite(fmt::format("/measurements/{}/summary/goodput_bps", i));
      others.push_back(*rows[i].summary.goodput_bps);
    }
  }
  const auto goodput = look.goodput_bps();
  if (others.empty() || !goodput) {
    return unknown("no other rail was measured alike");
  }
  std::ranges::sort(others);
  const double middle = others[others.size() / 2];
  const std::string rail = rail_of(look, End::sender);
  const std::string why = fmt::format(
      "{} reaches {:.0f} % of what {} other rail{} of this host "
      "reach{}",
      rail, 100 * *goodput / middle, others.size(), others.size() == 1 ? "" : "s",
      others.size() == 1 ? "es" : "");
  if (*goodput >= kSibling * middle) {
    return silent(why);
  }
  return fires(
      others.size() > 1 ? Confidence::confirmed : Confidence::likely, 0.85, why,
      "one rail is slower than its siblings: " + why,
      {fmt::format("compare {} with them: rate, lanes, slot, node, firmware, cable, switch "
                   "port (netbench doctor --peer HOST)",
                   rail)});
}

}  // namespace netbench::report
