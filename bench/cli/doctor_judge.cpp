#include "bench/cli/doctor_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "report/diagnose/diagnose.hpp"
#include "report/document/defuse.hpp"

namespace netbench::cli {

namespace {

double speed_of(const HostInfo& host, const std::string& device) {
  const Fact* fact = find_fact(host, fmt::format("if.{}.speed_bps", device));
  if (fact == nullptr) {
    return 0;
  }
  const auto* whole = std::get_if<std::int64_t>(&fact->value);
  return whole != nullptr ? static_cast<double>(*whole) : 0;
}

// The interfaces that something could be sent over, the fastest first.
std::vector<std::string> live_interfaces(const HostInfo& host) {
  constexpr std::string_view kPrefix = "if.";
  constexpr std::string_view kSuffix = ".carrier";
  std::vector<std::string> names;
  for (const auto& fact : host.facts) {
    if (fact.key.starts_with(kPrefix) && fact.key.ends_with(kSuffix) && fact.value == Value(true)) {
      names.push_back(
          fact.key.substr(kPrefix.size(), fact.key.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  std::ranges::stable_sort(names, std::ranges::greater{},
                           [&](const std::string& name) { return speed_of(host, name); });
  return names;
}

// What is said where no fault was found.
bool is_all_clear(const Finding& finding) {
  return finding.id.starts_with("healthy.") || finding.id == report::kTooLittle;
}

bool is_fault(const Finding& finding) { return finding.severity != Severity::info; }

// Two interfaces may have the same fault, with another name in its sentence; the same sentence
// twice is about the host.
void add_findings(std::vector<Finding>& findings, std::vector<Finding> more) {
  for (auto& finding : more) {
    const bool said = std::ranges::any_of(findings, [&](const Finding& known) {
      return known.id == finding.id && known.cause == finding.cause;
    });
    if (!said) {
      findings.push_back(std::move(finding));
    }
  }
}

// A verdict on no fault beside a fault; and of a run that failed, that nothing was measured.
void drop_what_says_nothing(const Document& document, std::vector<Finding>& findings) {
  if (std::ranges::any_of(findings, is_fault)) {
    std::erase_if(findings, is_all_clear);
  } else if (document.error) {
    std::erase_if(findings, [](const Finding& one) { return one.id == report::kTooLittle; });
  }
}

}  // namespace

bool says_too_little(const Document& document) {
  return std::ranges::find(document.findings, report::kTooLittle, &Finding::id) !=
         document.findings.end();
}

void judge_facts(Document& document) {
  std::vector<Finding> findings;
  if (document.hosts.size() != 1) {
    add_findings(findings, report::diagnose(report::defused(document)).findings);
    drop_what_says_nothing(document, findings);
    document.findings = std::move(findings);
    return;
  }
  HostInfo& host = document.hosts.begin()->second;
  auto names = live_interfaces(host);
  if (names.empty()) {
    names.push_back(host.interface);
  }
  for (const auto& name : names) {
    host.interface = name;
    add_findings(findings, report::diagnose(report::defused(document)).findings);
  }
  host.interface = names.front();
  drop_what_says_nothing(document, findings);
  std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::severity);
  document.findings = std::move(findings);
}

}  // namespace netbench::cli
