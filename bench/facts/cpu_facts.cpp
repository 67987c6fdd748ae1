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
  facts.add("cpu.frequency_cur_low_hz", low * kHzPerMhz, kCpuInfo);
  facts.add("cpu.frequency_cur_hz", high * kHzPerMhz, kCpuInfo);
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
  add_count(facts, "numa.node_count", "/sys/devices/system/node/online");
  facts.add_text_file("cpu.isolated", "/sys/devices/system/cpu/isolated");
  facts.add_integer_file("cpu.smt_active", "/sys/devices/system/cpu/smt/active");
}

}  // namespace netbench::facts
