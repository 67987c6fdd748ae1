#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr const char* kCpuInfo = "/proc/cpuinfo";

struct CpuInfo {
  std::map<std::string, std::string> first;  // field → value of the first CPU
  std::vector<double> mhz;
  std::set<std::pair<std::string, std::string>> cores;  // physical id, core id
  std::int64_t logical = 0;
};

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  std::string package;
  for (const auto line : split_lines(text)) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string field(trimmed(line.substr(0, colon)));
    const std::string value(trimmed(line.substr(colon + 1)));
    info.first.emplace(field, value);
    if (field == "processor") {
      ++info.logical;
    } else if (field == "physical id") {
      package = value;
    } else if (field == "core id") {
      info.cores.emplace(package, value);
    } else if (field == "cpu MHz") {
      double mhz = 0;
      std::from_chars(value.data(), value.data() + value.size(), mhz);
      info.mhz.push_back(mhz);
    }
  }
  return info;
}

// "model name" on x86; arm64 shows implementer and part numbers only.
std::string model_of(const CpuInfo& info) {
  if (const auto name = info.first.find("model name"); name != info.first.end()) {
    return name->second;
  }
  const auto implementer = info.first.find("CPU implementer");
  const auto part = info.first.find("CPU part");
  if (implementer == info.first.end() || part == info.first.end()) {
    return {};
  }
  return fmt::format("implementer {}, part {}", implementer->second, part->second);
}

void add_hypervisor(FactList& facts, const CpuInfo& info) {
  const auto flags = info.first.find("flags");
  if (flags == info.first.end()) {
    facts.add_unknown("host.virtual_machine", kCpuInfo, "this CPU shows no hypervisor flag");
    return;
  }
  const auto words = split_words(flags->second);
  facts.add("host.virtual_machine", std::ranges::find(words, "hypervisor") != words.end(),
            kCpuInfo);
}

void add_cpuinfo(FactList& facts) {
  const auto text = read_text_file(facts.root(), kCpuInfo);
  if (!text) {
    for (const char* key : {"cpu.model", "cpu.logical_count", "host.virtual_machine"}) {
      facts.add_unknown(key, kCpuInfo, text.error().message);
    }
    return;
  }
  const CpuInfo info = parse_cpuinfo(*text);
  if (auto model = model_of(info); !model.empty()) {
    facts.add("cpu.model", std::move(model), kCpuInfo);
  } else {
    facts.add_unknown("cpu.model", kCpuInfo, "no model name in it");
  }
  facts.add("cpu.logical_count", info.logical, kCpuInfo);
  if (info.cores.empty()) {
    facts.add_unknown("cpu.core_count", kCpuInfo, "no core ids in it");
  } else {
    facts.add("cpu.core_count", static_cast<std::int64_t>(info.cores.size()), kCpuInfo);
  }
  add_hypervisor(facts, info);
  if (info.mhz.empty()) {
    return;
  }
  constexpr double kHzPerMhz = 1e6;
  const auto [low, high] = std::ranges::minmax(info.mhz);
  facts.add("cpu.frequency_min_hz", low * kHzPerMhz, kCpuInfo);
  facts.add("cpu.frequency_max_hz", high * kHzPerMhz, kCpuInfo);
}

// Where /proc/cpuinfo shows no clock. Four CPUs at most: on some kernels each read sleeps 10 ms
// (arch/x86/kernel/cpu/aperfmperf.c up to Linux 5.17).
void add_frequency_of_cpufreq(FactList& facts, const std::vector<std::string>& policies) {
  constexpr std::size_t kMostReads = 4;
  const std::string base = "/sys/devices/system/cpu/cpufreq/";
  std::vector<std::int64_t> khz;
  for (std::size_t i = 0; i < std::min(policies.size(), kMostReads); ++i) {
    const auto text = read_line_file(facts.root(), base + policies[i] + "/scaling_cur_freq");
    if (const auto value = text ? to_integer(*text) : std::nullopt; value) {
      khz.push_back(*value);
    }
  }
  const std::string source = base + "policy*/scaling_cur_freq";
  if (khz.empty()) {
    facts.add_unknown("cpu.frequency_min_hz", source, "neither cpufreq nor /proc/cpuinfo says it");
    facts.add_unknown("cpu.frequency_max_hz", source, "neither cpufreq nor /proc/cpuinfo says it");
    return;
  }
  constexpr double kHzPerKhz = 1e3;
  const auto [low, high] = std::ranges::minmax(khz);
  facts.add("cpu.frequency_min_hz", static_cast<double>(low) * kHzPerKhz, source);
  facts.add("cpu.frequency_max_hz", static_cast<double>(high) * kHzPerKhz, source);
}

void add_governor(FactList& facts) {
  const std::string base = "/sys/devices/system/cpu/cpufreq";
  const std::string source = base + "/policy*/scaling_governor";
  std::vector<std::string> policies = list_directory(facts.root(), base);
  std::erase_if(policies, [](const std::string& name) { return !name.starts_with("policy"); });
  std::set<std::string> governors;
  for (const auto& policy : policies) {
    const auto path = fmt::format("{}/{}/scaling_governor", base, policy);
    if (const auto governor = read_line_file(facts.root(), path); governor) {
      governors.insert(*governor);
    }
  }
  if (governors.empty()) {
    facts.add_unknown("cpu.governor", source, "no cpufreq policy: the clock is not ours to see");
  } else {
    facts.add("cpu.governor", fmt::format("{}", fmt::join(governors, ",")), source);
  }
  if (facts.find("cpu.frequency_max_hz") == nullptr) {
    add_frequency_of_cpufreq(facts, policies);
  }
}

void add_count(FactList& facts, const std::string& key, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  const auto count = text ? count_of_list(*text) : std::nullopt;
  if (count) {
    facts.add(key, *count, path);
  } else {
    facts.add_unknown(key, path, text ? path + " is not a list" : text.error().message);
  }
}

}  // namespace

void collect_cpu(FactList& facts) {
  add_cpuinfo(facts);
  facts.add_text_file("cpu.online", "/sys/devices/system/cpu/online");
  add_count(facts, "cpu.online_count", "/sys/devices/system/cpu/online");
  add_governor(facts);
  add_count(facts, "numa.node_count", "/sys/devices/system/node/online");
}

}  // namespace netbench::facts
