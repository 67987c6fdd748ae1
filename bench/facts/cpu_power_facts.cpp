#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

const std::string kFrequencies = "/sys/devices/system/cpu/cpufreq/";
const std::string kIdleStates = "/sys/devices/system/cpu/cpu0/cpuidle/";

/// On some kernels each read of a current clock sleeps 10 ms (arch/x86/kernel/cpu/aperfmperf.c up
/// to Linux 5.17).
constexpr std::size_t kMostClockReads = 4;

std::vector<std::string> names_with(const FactList& facts, const std::string& folder,
                                    std::string_view prefix) {
  auto names = list_directory(facts.root(), folder);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

std::optional<std::int64_t> number_in(const FactList& facts, const std::string& path) {
  const auto text = read_line_file(facts.root(), path);
  return text ? to_integer(*text) : std::nullopt;
}

void add_governor(FactList& facts, const std::vector<std::string>& policies) {
  const std::string source = kFrequencies + "policy*/scaling_governor";
  std::set<std::string> governors;
  for (const auto& policy : policies) {
    const auto path = kFrequencies + policy + "/scaling_governor";
    if (const auto governor = read_line_file(facts.root(), path); governor) {
      governors.insert(*governor);
    }
  }
  if (governors.empty()) {
    facts.add_unknown("cpu.governor", source, "no cpufreq policy: the clock is not ours to see");
  } else {
    facts.add("cpu.governor", fmt::format("{}", fmt::join(governors, ",")), source);
  }
}

// The highest of what the policies say: files in kHz.
void add_clock(FactList& facts, const std::string& key, const std::vector<std::string>& policies,
               const std::string& file) {
  const std::string source = kFrequencies + "policy*/" + file;
  std::int64_t highest_khz = 0;
  for (const auto& policy : policies) {
    highest_khz =
        std::max(highest_khz, number_in(facts, kFrequencies + policy + "/" + file).value_or(0));
  }
  constexpr double kHzPerKhz = 1e3;
  if (highest_khz > 0) {
    facts.add(key, static_cast<double>(highest_khz) * kHzPerKhz, source);
  } else {
    facts.add_unknown(key, source, "no cpufreq policy: the clock is not ours to see");
  }
}

// cpuidle's states of the first CPU stand for all (Documentation/admin-guide/pm/cpuidle.rst).
void add_idle_states(FactList& facts) {
  const std::string key = "cpu.cstate_deepest_latency_us";
  const std::string source = kIdleStates + "state*/latency";
  std::optional<std::int64_t> deepest_us;
  std::string deepest_state;
  for (const auto& state : names_with(facts, kIdleStates, "state")) {
    const auto folder = kIdleStates + state;
    const auto latency = number_in(facts, folder + "/latency");
    const bool disabled = number_in(facts, folder + "/disable").value_or(0) != 0;
    if (latency && !disabled && *latency >= deepest_us.value_or(-1)) {
      deepest_us = latency;
      deepest_state = read_line_file(facts.root(), folder + "/name").value_or(state);
    }
  }
  if (!deepest_us) {
    facts.add_unknown(key, source, "no idle states: the host of a virtual machine has them");
    return;
  }
  facts.add(key, *deepest_us, source);
  facts.add("cpu.cstate_deepest", deepest_state, kIdleStates + "state*/name");
}

// Two drivers, two files, one of them upside down.
void add_turbo(FactList& facts) {
  const std::string intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
  const std::string boost = kFrequencies + "boost";
  if (const auto off = number_in(facts, intel); off) {
    facts.add("cpu.turbo", *off == 0, intel);
  } else if (const auto on = number_in(facts, boost); on) {
    facts.add("cpu.turbo", *on != 0, boost);
  } else {
    facts.add_unknown("cpu.turbo", boost, "neither intel_pstate nor cpufreq says it");
  }
}

}  // namespace

void collect_cpu_power(FactList& facts) {
  auto policies = names_with(facts, kFrequencies, "policy");
  add_governor(facts, policies);
  add_clock(facts, "cpu.frequency_max_hz", policies, "cpuinfo_max_freq");
  if (facts.find("cpu.frequency_cur_hz") == nullptr) {
    policies.resize(std::min(policies.size(), kMostClockReads));
    add_clock(facts, "cpu.frequency_cur_hz", policies, "scaling_cur_freq");
  }
  add_idle_states(facts);
  add_turbo(facts);
}

}  // namespace netbench::facts
