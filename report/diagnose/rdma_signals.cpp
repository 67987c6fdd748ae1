#include "report/diagnose/rdma_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Rails with counters in the row: "rdma.<rail>.<name>"; a name has no dot.
std::vector<std::string> counted_rails(Look& look, End end) {
  constexpr std::string_view kPrefix = "rdma.";
  std::set<std::string> rails;
  for (const auto& [key, total] : look.totals_below(end, kPrefix)) {
    const auto dot = key.rfind('.');
    if (dot > kPrefix.size()) {
      rails.insert(key.substr(kPrefix.size(), dot - kPrefix.size()));
    }
  }
  return {rails.begin(), rails.end()};
}

bool lists(const std::string& names, std::string_view name) {
  return fmt::format(" {} ", names).find(fmt::format(" {} ", name)) != std::string::npos;
}

/// One counter of a rail over the row: its total, 0 where it did not move although it is read.
std::optional<double> counter(Look& look, End end, const std::string& rail, std::string_view name) {
  const std::string prefix = fmt::format("rdma.{}.", rail);
  const auto moved = look.totals_below(end, prefix);
  const std::string key = fmt::format("{}{}", prefix, name);
  if (moved.contains(key)) {
    return look.total(end, key);
  }
  const auto names = rail_text(look, end, rail, "counter_names");
  return names && lists(*names, name) && !moved.empty() ? std::optional(0.0) : std::nullopt;
}

bool is_of(const RdmaCounterName& one, const std::string& driver) {
  return one.driver.empty() || driver.empty() || one.driver == driver;
}

}  // namespace

std::vector<std::string> rails_of(const Look& look, End end) {
  std::set<std::string> rails;
  for (const char* fact : {".driver", ".state", ".interface", ".active_mtu_bytes"}) {
    const auto more = fact_names(look, end, "rdma.", fact);
    rails.insert(more.begin(), more.end());
  }
  return {rails.begin(), rails.end()};
}

std::string rail_of(Look& look, End end) {
  if (const auto device = look.setting_text(end, "verbs.device"); device && *device != "auto") {
    return *device;
  }
  if (const auto counted = counted_rails(look, end); counted.size() == 1) {
    return counted.front();
  }
  const auto rails = rails_of(look, end);
  const auto of_interface = std::ranges::find_if(rails, [&](const std::string& rail) {
    return !look.interface(end).empty() &&
           rail_text(look, end, rail, "interface") == look.interface(end);
  });
  return of_interface != rails.end() ? *of_interface
         : rails.size() == 1         ? rails.front()
                                     : std::string{};
}

std::optional<double> rail_fact(Look& look, End end, const std::string& rail,
                                std::string_view name) {
  return look.fact(end, fmt::format("rdma.{}.{}", rail, name));
}

std::optional<std::string> rail_text(Look& look, End end, const std::string& rail,
                                     std::string_view name) {
  return look.fact_text(end, fmt::format("rdma.{}.{}", rail, name));
}

bool is_software_rail(Look& look, End end, const std::string& rail) {
  return rail_fact(look, end, rail, "software").value_or(0) != 0;
}

bool is_software(Look& look) {
  return std::ranges::any_of(
      kEnds, [&](End end) { return is_software_rail(look, end, rail_of(look, end)); });
}

std::optional<double> interface_mtu(Look& look, End end, const std::string& rail) {
  if (const auto own = rail_fact(look, end, rail, "interface_mtu_bytes")) {
    return own;
  }
  const auto interface = rail_text(look, end, rail, "interface");
  return interface ? look.fact(end, fmt::format("if.{}.mtu_bytes", *interface)) : std::nullopt;
}

std::string rail_name(const Look& look, End end, const std::string& rail) {
  return rail.empty() ? look.host_name(end) : fmt::format("{}'s {}", look.host_name(end), rail);
}

std::string operation_of(Look& look) {
  return look.setting_text(End::sender, "verbs.op").value_or("");
}

End requester(Look& look) { return operation_of(look) == "read" ? End::receiver : End::sender; }

End responder(Look& look) { return requester(look) == End::sender ? End::receiver : End::sender; }

std::optional<RdmaCount> rdma_count(Look& look, End end,
                                    std::initializer_list<RdmaMeaning> meanings) {
  const std::string rail = rail_of(look, end);
  const std::string driver = rail_text(look, end, rail, "driver").value_or("");
  std::optional<RdmaCount> count;
  for (const RdmaCounterName& one : rdma_counter_names()) {
    if (one.moves_when_well || !is_of(one, driver) ||
        std::ranges::find(meanings, one.meaning) == meanings.end()) {
      continue;
    }
    const auto total = counter(look, end, rail, one.name);
    if (!total || (count && lists(count->names, one.name))) {
      continue;
    }
    count = count ? count : std::optional(RdmaCount{});
    count->total += *total * one.unit;
    if (*total > 0) {
      count->names +=
          fmt::format("{}{} {:.0f}", count->names.empty() ? "" : ", ", one.name, *total);
    }
  }
  return count;
}

Verdict over_rails(Look& look, End end, JudgeRail judge) {
  std::vector<Verdict> verdicts;
  for (const std::string& rail : rails_of(look, end)) {
    verdicts.push_back(judge(look, end, rail));
  }
  return nearest_of(verdicts, fmt::format("{}: no RDMA device was read", look.host_name(end)));
}

bool wants_rdma(const Document& document) {
  return document.measurements.empty() ||
         std::ranges::any_of(document.measurements, [](const Measurement& row) {
           return row.transport == "verbs" || row.transport == "gpudirect" ||
                  row.transport == "nccl";
         });
}

Verdict unless_wanted(const Document& document, Verdict verdict) {
  return verdict.outcome == Outcome::fires && !wants_rdma(document) ? milder(std::move(verdict))
                                                                    : std::move(verdict);
}

}  // namespace netbench::report
