#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kKey = "cgroup.cpu_max";
constexpr const char* kGroups = "/proc/self/cgroup";

/// A limit as cpu.max writes it ("50000 100000", "max 100000"), and where it stood.
struct Limit {
  std::string text;
  std::string source;

  /// CPUs' worth of time; nothing for "max".
  [[nodiscard]] std::optional<double> cpus() const {
    const auto words = split_words(text);
    const auto quota = words.empty() ? std::nullopt : to_integer(words[0]);
    const auto period = words.size() > 1 ? to_integer(words[1]) : std::nullopt;
    return quota && period && *period > 0
               ? std::optional<double>(static_cast<double>(*quota) / static_cast<double>(*period))
               : std::nullopt;
  }
};

// Version 2: cpu.max (Documentation/admin-guide/cgroup-v2.rst).
std::optional<Limit> limit_v2(const FactList& facts, const std::string& folder) {
  const std::string path = folder + "/cpu.max";
  const auto text = read_line_file(facts.root(), path);
  return text ? std::optional<Limit>({*text, path}) : std::nullopt;
}

// Version 1: cpu.cfs_quota_us, -1 for none (Documentation/scheduler/sched-bwc.rst).
std::optional<Limit> limit_v1(const FactList& facts, const std::string& folder) {
  const std::string path = folder + "/cpu.cfs_quota_us";
  const auto quota = read_line_file(facts.root(), path);
  const auto period = read_line_file(facts.root(), folder + "/cpu.cfs_period_us");
  return quota && period
             ? std::optional<Limit>(
                   {fmt::format("{} {}", *quota == "-1" ? "max" : *quota, *period), path})
             : std::nullopt;
}

struct Membership {
  std::string mount;  // of the hierarchy with the CPU controller
  std::string group;
  std::optional<Limit> (*read)(const FactList&, const std::string&) = limit_v2;
};

// Lines "number:controllers:path" of cgroups(7). The CPU controller of version 1 comes first where
// it is mounted: version 2 has it only where no version 1 hierarchy took it.
std::optional<Membership> find_membership(std::string_view text) {
  std::optional<Membership> found;
  for (const auto line : split_lines(text)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const auto controllers = line.substr(first + 1, second - first - 1);
    const std::string group(line.substr(second + 1));
    const std::string padded = fmt::format(",{},", controllers);
    if (padded.find(",cpu,") != std::string::npos) {
      return Membership{"/sys/fs/cgroup/cpu", group, limit_v1};
    }
    if (controllers.empty()) {
      found = Membership{"/sys/fs/cgroup", group, limit_v2};
    }
  }
  return found;
}

// The tightest limit of the group and of every group above it.
std::optional<Limit> tightest(const FactList& facts, const Membership& membership) {
  std::optional<Limit> found;
  for (std::string group = membership.group;; group = group.substr(0, group.rfind('/'))) {
    const auto limit = membership.read(facts, membership.mount + (group == "/" ? "" : group));
    const auto cpus = limit ? limit->cpus() : std::nullopt;
    const auto known = found ? found->cpus() : std::nullopt;
    if (limit && (!found || (cpus && (!known || *cpus < *known)))) {
      found = limit;
    }
    if (group.empty() || group == "/") {
      return found;
    }
  }
}

void add_limit(FactList& facts) {
  const auto text = read_text_file(facts.root(), kGroups);
  const auto membership = text ? find_membership(*text) : std::nullopt;
  if (!membership) {
    facts.add_unknown(kKey, kGroups,
                      text ? "in no control group that limits the CPU" : text.error().message);
    return;
  }
  const auto limit = tightest(facts, *membership);
  if (!limit) {
    facts.add_unknown(kKey, membership->mount + membership->group,
                      "no limit is readable there: the root group has none");
    return;
  }
  facts.add(kKey, limit->text, limit->source);
  if (const auto cpus = limit->cpus(); cpus) {
    facts.add("cgroup.cpu_limit_cpus", *cpus, limit->source);
  }
}

}  // namespace

void collect_cgroup(FactList& facts) {
  add_limit(facts);
  const std::string source = "/proc/self/status";
  const auto text = read_text_file(facts.root(), source);
  for (const auto line : text ? split_lines(*text) : std::vector<std::string_view>{}) {
    constexpr std::string_view kField = "Cpus_allowed_list:";
    if (line.starts_with(kField)) {
      facts.add("process.cpus_allowed", std::string(trimmed(line.substr(kField.size()))), source);
      return;
    }
  }
  facts.add_unknown("process.cpus_allowed", source,
                    text ? "no Cpus_allowed_list in it" : text.error().message);
}

}  // namespace netbench::facts
