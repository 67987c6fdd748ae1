#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "bench/facts/counter_text.hpp"
#include "bench/facts/counters.hpp"

namespace netbench::facts {

namespace {

constexpr double kBusyShareShown = 0.05;

void add_differences(const NamedCounts& before, const NamedCounts& after, std::string_view prefix,
                     CounterDelta& result) {
  std::unordered_map<std::string_view, std::uint64_t> earlier;
  for (const auto& [name, count] : before) {
    earlier.emplace(name, count);
  }
  for (const auto& [name, count] : after) {
    const auto found = earlier.find(name);
    if (found == earlier.end() || found->second == count) {
      continue;
    }
    auto key = fmt::format("{}{}", prefix, name);
    if (count < found->second) {
      result.notes.push_back(
          fmt::format("{} ran backwards ({} to {}): dropped", key, found->second, count));
    } else {
      result.counters[std::move(key)] = static_cast<double>(count - found->second);
    }
  }
}

double ticks_to_seconds(std::uint64_t before, std::uint64_t after) {
  const auto hz = static_cast<double>(::sysconf(_SC_CLK_TCK));
  // The kernel lets idle and iowait run backwards at times (proc(5)): then nothing is known of it.
  return after < before ? 0.0 : static_cast<double>(after - before) / hz;
}

struct CpuField {
  const char* key;
  std::uint64_t CpuTicks::*ticks;
};

constexpr std::array kHostFields{
    CpuField{"cpu.user_s", &CpuTicks::user},       CpuField{"cpu.nice_s", &CpuTicks::nice},
    CpuField{"cpu.system_s", &CpuTicks::system},   CpuField{"cpu.irq_s", &CpuTicks::irq},
    CpuField{"cpu.softirq_s", &CpuTicks::softirq}, CpuField{"cpu.steal_s", &CpuTicks::steal},
    CpuField{"cpu.iowait_s", &CpuTicks::iowait},   CpuField{"cpu.idle_s", &CpuTicks::idle}};

void put_if_moved(Counters& counters, std::string key, double value) {
  if (value > 0) {
    counters[std::move(key)] = value;
  }
}

void add_cpus(const Snapshot& before, const Snapshot& after, CounterDelta& result) {
  constexpr double kNano = 1e-9;
  const double elapsed_s = kNano * static_cast<double>(after.at_ns - before.at_ns);
  const auto earlier = parse_proc_stat(before.stat);
  for (const auto& cpu : parse_proc_stat(after.stat)) {
    const auto old = std::ranges::find(earlier, cpu.cpu, &CpuTicks::cpu);
    if (old == earlier.end()) {
      continue;
    }
    const double busy_s = ticks_to_seconds(old->busy(), cpu.busy());
    if (cpu.cpu < 0) {
      put_if_moved(result.counters, "cpu.busy_s", busy_s);
      for (const auto& field : kHostFields) {
        put_if_moved(result.counters, field.key,
                     ticks_to_seconds((*old).*field.ticks, cpu.*field.ticks));
      }
    } else if (busy_s >= kBusyShareShown * elapsed_s) {
      put_if_moved(result.counters, fmt::format("cpu.{}.busy_s", cpu.cpu), busy_s);
      put_if_moved(result.counters, fmt::format("cpu.{}.softirq_s", cpu.cpu),
                   ticks_to_seconds(old->softirq, cpu.softirq));
    }
  }
}

CpuTicks host_ticks(const Snapshot& snapshot) {
  const auto cpus = parse_proc_stat(snapshot.stat);
  const auto sum = std::ranges::find(cpus, -1, &CpuTicks::cpu);
  return sum == cpus.end() ? CpuTicks{} : *sum;
}

double known_seconds(const Snapshot& before, const Snapshot& after) {
  double sum = 0;
  for (const auto& process : after.known_processes) {
    const auto old = std::ranges::find(before.known_processes, process.pid, &ProcessCpu::pid);
    if (old != before.known_processes.end()) {
      sum += std::max(0.0, process.cpu_s - old->cpu_s);
    }
  }
  return sum;
}

}  // namespace

CounterDelta delta(const Snapshot& before, const Snapshot& after) {
  CounterDelta result;
  add_differences(parse_paired_lines(before.snmp, "snmp"), parse_paired_lines(after.snmp, "snmp"),
                  "", result);
  add_differences(parse_paired_lines(before.netstat, "netstat"),
                  parse_paired_lines(after.netstat, "netstat"), "", result);
  add_differences(parse_snmp6(before.snmp6), parse_snmp6(after.snmp6), "", result);
  add_differences(parse_softnet(before.softnet), parse_softnet(after.softnet), "", result);
  add_differences(before.link, after.link, fmt::format("if.{}.", after.interface), result);
  add_differences(before.nic, after.nic, fmt::format("ethtool.{}.", after.interface), result);
  add_cpus(before, after, result);
  for (const auto* snapshot : {&before, &after}) {
    for (const auto& missing : snapshot->missing) {
      if (std::ranges::find(result.notes, missing) == result.notes.end()) {
        result.notes.push_back(missing);
      }
    }
  }
  return result;
}

CpuUse cpu_use(const Snapshot& before, const Snapshot& after) {
  constexpr double kNano = 1e-9;
  const CpuTicks old = host_ticks(before);
  const CpuTicks now = host_ticks(after);
  CpuUse use;
  use.elapsed_s = kNano * static_cast<double>(after.at_ns - before.at_ns);
  use.own_s = std::max(0.0, after.own_cpu_s - before.own_cpu_s);
  use.known_s = known_seconds(before, after);
  use.softirq_s = ticks_to_seconds(old.softirq, now.softirq);
  use.steal_s = ticks_to_seconds(old.steal, now.steal);
  use.busy_s = ticks_to_seconds(old.busy(), now.busy());
  use.foreign_s = std::max(0.0, use.busy_s - use.own_s - use.known_s - use.softirq_s);
  return use;
}

}  // namespace netbench::facts
