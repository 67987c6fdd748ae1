#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// One-way delays are wrong by this much before anybody minds.
constexpr double kClockOffset_s = 1e-3;
constexpr std::size_t kMostShown = 8;

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*whole);
  }
  if (const auto* fraction = std::get_if<double>(&value)) {
    return fmt::format("{:g}", *fraction);
  }
  const auto* flag = std::get_if<bool>(&value);
  return flag == nullptr ? std::string{} : *flag ? "on" : "off";
}

/// A fact by its key without the interface's name, so that eth0 and ens3 compare.
std::string common_key(const std::string& key, const std::string& interface) {
  const std::string own = fmt::format("if.{}.", interface);
  return !interface.empty() && key.starts_with(own) ? "if.*." + key.substr(own.size()) : key;
}

const Fact* counterpart(const HostInfo& host, const std::string& common) {
  for (const Fact& fact : host.facts) {
    if (common_key(fact.key, host.interface) == common &&
        !std::holds_alternative<std::monostate>(fact.value)) {
      return &fact;
    }
  }
  return nullptr;
}

struct Difference {
  std::string key;  // "if.*.mtu_bytes"
  std::string near;
  std::string far;
};

struct Comparison {
  std::size_t compared = 0;
  std::vector<Difference> differences;
};

/// Compares what both hosts know about keys that `concerns` picks, and cites what differs.
Comparison compare(Look& look, bool (*concerns)(std::string_view key)) {
  Comparison comparison;
  const HostInfo* near = look.host(End::sender);
  const HostInfo* far = look.host(End::receiver);
  if (near == nullptr || far == nullptr) {
    return comparison;
  }
  for (const Fact& fact : near->facts) {
    const std::string key = common_key(fact.key, near->interface);
    const bool known = !std::holds_alternative<std::monostate>(fact.value);
    const Fact* other = known && concerns(key) ? counterpart(*far, key) : nullptr;
    if (other == nullptr) {
      continue;
    }
    ++comparison.compared;
    if (fact.value != other->value) {
      comparison.differences.push_back({key, text_of(fact.value), text_of(other->value)});
      look.cite(fmt::format("/hosts/h0/facts/{}", &fact - near->facts.data()));
      look.cite(fmt::format("/hosts/h1/facts/{}", other - far->facts.data()));
    }
  }
  return comparison;
}

std::string list_of(const std::vector<Difference>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostShown, differences.size()); ++i) {
    const Difference& one = differences[i];
    text += fmt::format("{}{} {} and {}", i == 0 ? "" : ", ", one.key, one.near, one.far);
  }
  return differences.size() > kMostShown
             ? fmt::format("{} and {} more", text, differences.size() - kMostShown)
             : text;
}

/// A note where the hosts differ in what `concerns` picks.
Verdict alike(Look& look, bool (*concerns)(std::string_view key), const std::string& what,
              std::vector<std::string> (*remedy)(const std::vector<Difference>&)) {
  const Comparison comparison = compare(look, concerns);
  if (comparison.compared == 0) {
    return unknown(fmt::format("{}: nothing that both hosts say", what));
  }
  if (comparison.differences.empty()) {
    return silent(fmt::format("{}: {} values alike", what, comparison.compared));
  }
  const std::string text = list_of(comparison.differences);
  return fires(Confidence::confirmed, 0.1, text,
               fmt::format("{} and {} differ in {}: {}", look.host_name(End::sender),
                           look.host_name(End::receiver), what, text),
               remedy(comparison.differences));
}

bool is_version(std::string_view key) {
  constexpr std::array<std::string_view, 6> kKeys = {
      "kernel.release", "os.name", "nvidia.driver", "cuda.version", "nccl.version", "ofed.version"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

bool is_sysctl(std::string_view key) { return key.starts_with("sysctl.net."); }

bool is_link_setting(std::string_view key) {
  constexpr std::array<std::string_view, 9> kParts = {
      "if.*.speed_bps", "if.*.duplex", "if.*.autonegotiation",
      "if.*.offload.",  "if.*.ring.",  "if.*.coalesce.",
      "if.*.pause.",    "if.*.fec.",   "if.*.channels."};
  return std::ranges::any_of(kParts, [&](auto part) { return key.starts_with(part); });
}

bool is_platform(std::string_view key) {
  constexpr std::array<std::string_view, 6> kParts = {
      "if.*.pcie.",       "if.*.iommu_group_type", "cpu.governor",
      "pcie.aspm_policy", "kernel.cmdline_iommu",  "cpu.model"};
  return std::ranges::any_of(kParts, [&](auto part) { return key.starts_with(part); });
}

std::vector<std::string> install_alike(const std::vector<Difference>&) {
  return {"the same versions on both hosts, before anything else is compared"};
}

/// "sysctl.net.ipv4.tcp_rmem_max_bytes" as sysctl(8) names it: without the unit, and without the
/// part of a value of three.
std::string sysctl_name(std::string key) {
  key = key.substr(std::string_view("sysctl.").size());
  constexpr std::array<std::string_view, 6> kEndings = {"_bytes", "_packets", "_us",
                                                        "_min",   "_default", "_max"};
  for (const std::string_view ending : kEndings) {
    const bool part = !ending.starts_with("_m") && ending != "_default";
    const bool of_three =
        key.starts_with("net.ipv4.tcp_rmem") || key.starts_with("net.ipv4.tcp_wmem");
    if (key.ends_with(ending) && (part || of_three)) {
      key.resize(key.size() - ending.size());
    }
  }
  return key;
}

std::vector<std::string> set_alike(const std::vector<Difference>& differences) {
  std::set<std::string> names;
  for (const Difference& one : differences) {
    names.insert(sysctl_name(one.key));
  }
  return {fmt::format("on both hosts: sysctl {}", fmt::join(names, " ")),
          "one file in /etc/sysctl.d for all hosts"};
}

std::vector<std::string> configure_alike(const std::vector<Difference>&) {
  return {
      "ethtool -k, -g, -c, -a and --show-fec of both interfaces; set the slower like the other"};
}

std::vector<std::string> build_alike(const std::vector<Difference>&) {
  return {"the same slot, BIOS settings and kernel command line on both hosts"};
}

Verdict judge_versions(Look& look) { return alike(look, is_version, "versions", install_alike); }
Verdict judge_sysctls(Look& look) { return alike(look, is_sysctl, "kernel settings", set_alike); }
Verdict judge_link_settings(Look& look) {
  return alike(look, is_link_setting, "link and card settings", configure_alike);
}
Verdict judge_platform(Look& look) { return alike(look, is_platform, "platform", build_alike); }

// An offset that is told of one end is from the other's clock: measured over the control channel,
// it is h1's from h0's.
Verdict clock_at(Look& look, End end, double offset_s) {
  const double doubt_s = look.fact(end, "clock.offset_uncertainty_s").value_or(0);
  const std::string why =
      fmt::format("{}: clock off by {:.3g} ms{}", look.host_name(end), offset_s * 1e3,
                  doubt_s > 0 ? fmt::format(", known to {:.2g} ms", doubt_s * 1e3) : "");
  if (std::abs(offset_s) - doubt_s <= kClockOffset_s) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.1, why,
               "one-way delays and logs of both hosts do not compare: " + why,
               {"on both hosts: chronyc tracking   (or timedatectl; one time source for both)"});
}

Verdict judge_clock(Look& look) {
  std::vector<Verdict> verdicts;
  for (const End end : kEnds) {
    if (const auto offset = look.fact(end, "clock.offset_s")) {
      verdicts.push_back(clock_at(look, end, *offset));
    }
  }
  return nearest_of(verdicts, "how far the clocks are apart was not measured");
}

/// What an end's name for the other leads to.
Verdict name_at(Look& look, End end) {
  const End other = end == End::sender ? End::receiver : End::sender;
  const auto address = look.fact_text(end, "name.peer_resolves_to");
  const HostInfo* peer = look.host(other);
  if (!address || peer == nullptr || peer->addresses.empty()) {
    return unknown(
        fmt::format("{}: what the peer's name leads to is not known", look.host_name(end)));
  }
  const std::string why = fmt::format("{} resolves {} to {}; tested was {}", look.host_name(end),
                                      look.host_name(other), *address, peer->addresses.front());
  const std::string listed = "," + *address + ",";
  const bool tested = std::ranges::any_of(peer->addresses, [&](const std::string& own) {
    return listed.find("," + own + ",") != std::string::npos;
  });
  if (tested) {
    return silent(why);
  }
  return fires(Confidence::likely, 0.1, why,
               "programs that use host names take another network than the tested one: " + why,
               {fmt::format("on {}: echo '{} {}' >> /etc/hosts", look.host_name(end),
                            peer->addresses.front(), look.host_name(other))});
}

/// Whether the user named the peer instead of giving its address.
bool peer_was_named(const Document& document) {
  const auto found = document.config.find("peer");
  const auto* peer =
      found == document.config.end() ? nullptr : std::get_if<std::string>(&found->second);
  return peer != nullptr && *peer != "self" &&
         peer->find_first_not_of("0123456789.:[]abcdefABCDEF") != std::string::npos;
}

/// A name that the test used, and that leads to another network at one end alone, is a mistake in
/// one hosts file; else it may be meant so (an overlay, a management network).
Verdict judge_names(Look& look) {
  const Verdict at_sender = name_at(look, End::sender);
  const Verdict at_receiver = name_at(look, End::receiver);
  const bool one_alone =
      (at_sender.outcome == Outcome::fires && at_receiver.outcome == Outcome::silent) ||
      (at_sender.outcome == Outcome::silent && at_receiver.outcome == Outcome::fires);
  Verdict verdict = nearest_of({at_sender, at_receiver}, {});
  if (one_alone && peer_was_named(look.document())) {
    verdict.severity = Severity::warning;
    verdict.confidence = Confidence::confirmed;
    verdict.nearness = 0.9;
  }
  return verdict;
}

constexpr Rule note(std::string_view id, std::string_view class_id, Verdict (*judge)(Look&)) {
  return {id, class_id, Scope::hosts, Kind::note, Severity::info, judge};
}

constexpr std::array kRules = {
    note("hosts.versions", "V01", judge_versions),
    note("hosts.sysctls", "V02", judge_sysctls),
    note("hosts.link-settings", "V03", judge_link_settings),
    note("hosts.platform", "V04", judge_platform),
    note("hosts.clock", "V05", judge_clock),
    Rule{"hosts.names", "V06", Scope::hosts, Kind::defect, Severity::info, judge_names}};

}  // namespace

RuleTable consistency_rules() { return kRules; }

}  // namespace netbench::report
