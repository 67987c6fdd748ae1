#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Kernel texts that are read at the ends of a row, or in it. All pure; nothing where the text is
/// not of that kind.
namespace netbench::facts {

/// Bandwidth control of a control group: periods that ended, those in which it was throttled, and
/// for how long (Documentation/scheduler/sched-bwc.rst).
struct CpuLimitCounts {
  std::uint64_t periods = 0;
  std::uint64_t throttled = 0;
  double throttled_s = 0;
};

/// cpu.stat of version 1 (throttled_time in ns) or 2 (throttled_usec).
[[nodiscard]] std::optional<CpuLimitCounts> parse_cpu_stat(std::string_view text);

/// From /proc/self/cgroup, where the group's cpu.stat may be, groups above it behind it: with the
/// cpu controller of version 1 below its mount, else with version 2 below /sys/fs/cgroup. In a
/// container without a namespace of groups only the last of them exist.
[[nodiscard]] std::vector<std::string> cpu_stat_paths(std::string_view self_cgroup);

/// Pages of all TCP sockets of the machine: "TCP: inuse 5 … mem 3" of /proc/net/sockstat.
[[nodiscard]] std::optional<std::uint64_t> parse_tcp_memory(std::string_view sockstat);

/// The TOTAL_ERR_… line of aer_dev_{correctable,nonfatal,fatal}
/// (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
[[nodiscard]] std::optional<std::uint64_t> parse_aer_total(std::string_view text);

/// Microseconds in which some task waited: total= of the "some" line
/// (Documentation/accounting/psi).
[[nodiscard]] std::optional<std::uint64_t> parse_pressure(std::string_view text);

/// Sockets of /proc/net/packet that get a copy of test packets on that interface (all protocols, or
/// IP), without those of the inodes in `own`.
[[nodiscard]] std::uint64_t count_packet_sockets(std::string_view text, int interface_index,
                                                 const std::set<std::uint64_t>& own);

/// 12 of "socket:[12]", the text of a link in /proc/<pid>/fd.
[[nodiscard]] std::optional<std::uint64_t> parse_socket_inode(std::string_view link);

}  // namespace netbench::facts
