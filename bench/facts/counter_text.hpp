#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/facts/network_reader.hpp"

namespace netbench::facts {

/// /proc/net/snmp and netstat: pairs of lines "Group: names…" and "Group: values…". Names become
/// "<prefix>.<group>.<name>"; TcpExt loses its group. Gauges and settings are left out.
[[nodiscard]] NamedCounts parse_paired_lines(std::string_view text, std::string_view prefix);

/// /proc/net/snmp6: "Ip6InReceives  12" per line.
[[nodiscard]] NamedCounts parse_snmp6(std::string_view text);

/// /proc/net/softnet_stat: a line a CPU, hexadecimal (net/core/net-procfs.c); summed over CPUs.
[[nodiscard]] NamedCounts parse_softnet(std::string_view text);

/// One "cpu" line of /proc/stat, in ticks.
struct CpuTicks {
  int cpu = -1;  // -1: the sum of all
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0,
                steal = 0;
  [[nodiscard]] std::uint64_t busy() const { return user + nice + system + irq + softirq; }
};

/// The "cpu" lines of /proc/stat (proc(5)); guest time is inside user and nice.
[[nodiscard]] std::vector<CpuTicks> parse_proc_stat(std::string_view text);

}  // namespace netbench::facts
