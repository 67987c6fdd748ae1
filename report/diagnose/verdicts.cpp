#include "report/diagnose/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace netbench::report {

namespace {

std::string joined_reasons(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> reasons;
  for (const Verdict& verdict : verdicts) {
    if (std::ranges::find(reasons, verdict.why) == reasons.end()) {
      reasons.push_back(verdict.why);
    }
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// Among verdicts that fire: the surer one, then the nearer one.
bool weaker(const Verdict& one, const Verdict& other) {
  return std::pair(other.confidence, one.nearness) < std::pair(one.confidence, other.nearness);
}

/// Puts the host in front of what is a command and names none yet.
void name_host(std::vector<std::string>& remedy, const std::string& host) {
  constexpr std::array<std::string_view, 17> kPrograms = {
      "ethtool ", "ip ",     "tc ",        "sysctl ",    "cpupower ", "modprobe ",
      "setpci ",  "nft ",    "iptables ",  "systemctl ", "echo ",     "dmesg ",
      "cat ",     "arping ", "tracepath ", "numactl ",   "lspci "};
  for (std::string& line : remedy) {
    if (std::ranges::any_of(kPrograms, [&](auto program) { return line.starts_with(program); })) {
      line.insert(0, fmt::format("on {}: ", host));
    }
  }
}

bool is_under(const Verdict& verdict, Outcome outcome) { return verdict.outcome == outcome; }

}  // namespace

Verdict fires(Confidence confidence, double nearness, std::string why, std::string cause,
              std::vector<std::string> remedy) {
  return {.outcome = Outcome::fires,
          .confidence = confidence,
          .nearness = nearness,
          .why = std::move(why),
          .cause = std::move(cause),
          .remedy = std::move(remedy)};
}

Verdict milder(Verdict verdict) {
  verdict.severity = Severity::info;
  return verdict;
}

Verdict nearest_of(const std::vector<Verdict>& verdicts, const std::string& what_is_missing) {
  std::vector<Verdict> firing;
  std::ranges::copy_if(verdicts, std::back_inserter(firing),
                       [](const Verdict& one) { return is_under(one, Outcome::fires); });
  if (!firing.empty()) {
    return *std::ranges::max_element(firing, weaker);
  }
  if (verdicts.empty()) {
    return unknown(what_is_missing);
  }
  const bool all_silent = std::ranges::all_of(
      verdicts, [](const Verdict& one) { return is_under(one, Outcome::silent); });
  return all_silent ? silent(joined_reasons(verdicts)) : unknown(joined_reasons(verdicts));
}

Verdict either_end(Look& look, JudgeEnd judge) {
  std::vector<Verdict> verdicts;
  for (const End end : kEnds) {
    verdicts.push_back(judge(look, end));
    name_host(verdicts.back().remedy, look.host_name(end));
  }
  return nearest_of(verdicts, {});
}

std::vector<std::string> fact_names(const Look& look, End end, std::string_view prefix,
                                    std::string_view suffix) {
  std::vector<std::string> names;
  const HostInfo* host = look.host(end);
  if (host == nullptr) {
    return names;
  }
  for (const Fact& fact : host->facts) {
    const std::string_view key = fact.key;
    if (std::holds_alternative<std::monostate>(fact.value) || !key.starts_with(prefix) ||
        !key.ends_with(suffix) || key.size() <= prefix.size() + suffix.size()) {
      continue;
    }
    const auto name = key.substr(prefix.size(), key.size() - prefix.size() - suffix.size());
    // A PCI address has a dot of its own: 0000:01:00.0.
    if (name.find('.') == std::string_view::npos || name.find(':') != std::string_view::npos) {
      names.emplace_back(name);
    }
  }
  return names;
}

CounterSum sum_counters(Look& look, End end, std::initializer_list<CounterPattern> patterns) {
  CounterSum sum;
  std::map<std::string, std::string> moved;  // name to key: a driver repeats the kernel's
  for (const CounterPattern& pattern : patterns) {
    for (const auto& [key, total] : look.totals_below(end, pattern.prefix)) {
      sum.read = true;
      std::string name = key.substr(key.rfind('.') + 1);
      if (total > 0 && name.find(pattern.part) != std::string::npos) {
        moved.emplace(std::move(name), key);
      }
    }
  }
  for (const auto& [name, key] : moved) {
    const double total = look.total(end, key).value_or(0);  // cites it
    sum.total += total;
    sum.names += fmt::format("{}{} {:.0f}", sum.names.empty() ? "" : ", ", name, total);
  }
  return sum;
}

std::string device_of(const Look& look, End end) {
  const std::string interface = look.interface(end);
  return interface.empty() ? look.host_name(end)
                           : fmt::format("{}'s {}", look.host_name(end), interface);
}

std::optional<double> nearest_bound(Look& look, std::initializer_list<std::string_view> bounds) {
  std::optional<double> nearest;
  for (const std::string_view id : bounds) {
    if (const auto one = look.nearness(id)) {
      nearest = std::max(nearest.value_or(0), *one);
    }
  }
  return nearest;
}

}  // namespace netbench::report
