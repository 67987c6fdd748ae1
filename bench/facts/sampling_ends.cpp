#include "bench/facts/sampling_ends.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

/// Reads a text and keeps its number, or the reason why there is none.
void take_number(const HostEndsOptions& options, const std::string& path,
                 std::optional<std::uint64_t> (*parse)(std::string_view), const std::string& key,
                 std::map<std::string, std::uint64_t>& numbers, HostEnds& ends) {
  const auto text = read_text_file(options.root, path);
  if (!text) {
    ends.missing.push_back(text.error().message);
  } else if (const auto number = parse(*text)) {
    numbers[key] = *number;
  } else {
    ends.missing.push_back(path + ": not in a form that is known");
  }
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto number = to_integer(trimmed(text));
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

void take_aer(const HostEndsOptions& options, HostEnds& ends) {
  constexpr std::array kSeverities{"correctable", "nonfatal", "fatal"};
  if (options.interface.empty()) {
    return;
  }
  for (const char* severity : kSeverities) {
    const auto path =
        fmt::format("/sys/class/net/{}/device/aer_dev_{}", options.interface, severity);
    take_number(options, path, parse_aer_total,
                fmt::format("aer.{}.{}", options.interface, severity), ends.counts, ends);
  }
}

/// Members of the bonds that an interface is, or lies on (VLANs on a bond).
std::vector<std::string> bond_members(const std::string& root, const std::string& interface) {
  constexpr std::string_view kLower =
      "lower_";  // kernel: Documentation/ABI/testing/sysfs-class-net
  const std::string folder = "/sys/class/net/" + interface;
  if (const auto members = read_text_file(root, folder + "/bonding/slaves")) {
    const auto names = split_words(*members);
    return {names.begin(), names.end()};
  }
  std::vector<std::string> found;
  for (const std::string& entry : list_directory(root, folder)) {
    if (entry.starts_with(kLower)) {
      const auto below = bond_members(root, entry.substr(kLower.size()));
      found.insert(found.end(), below.begin(), below.end());
    }
  }
  return found;
}

/// The bytes of each member: the bond itself only counts their sum.
void take_members(const HostEndsOptions& options, HostEnds& ends) {
  if (options.interface.empty()) {
    return;
  }
  for (const std::string& member : bond_members(options.root, options.interface)) {
    for (const char* way : {"rx_bytes", "tx_bytes"}) {
      take_number(options, fmt::format("/sys/class/net/{}/statistics/{}", member, way), parse_count,
                  fmt::format("if.{}.{}", member, way), ends.counts, ends);
    }
  }
}

void take_cpu_limits(const HostEndsOptions& options, HostEnds& ends) {
  const auto groups = read_text_file(options.root, "/proc/self/cgroup");
  if (!groups) {
    ends.missing.push_back(groups.error().message);
    return;
  }
  for (const auto& path : cpu_stat_paths(*groups)) {
    const auto text = read_text_file(options.root, path);
    ends.cpu_limits.push_back(text ? parse_cpu_stat(*text) : std::nullopt);
  }
  if (std::ranges::none_of(ends.cpu_limits, [](const auto& level) { return level.has_value(); })) {
    ends.missing.emplace_back("cpu.stat of the control group: no counts of a CPU limit");
  }
}

std::set<std::uint64_t> sockets_of(const std::string& root, const std::string& process) {
  std::set<std::uint64_t> inodes;
  const std::string directory = fmt::format("/proc/{}/fd", process);
  for (const auto& name : list_directory(root, directory)) {
    const auto path = fmt::format("{}{}/{}", root == "/" ? "" : root, directory, name);
    std::array<char, 64> link{};
    const ssize_t length = ::readlink(path.c_str(), link.data(), link.size());
    if (length > 0) {
      const auto inode = parse_socket_inode({link.data(), static_cast<std::size_t>(length)});
      inodes.insert(inode.value_or(0));
    }
  }
  return inodes;
}

void take_packet_sockets(const HostEndsOptions& options, HostEnds& ends) {
  const std::string path =
      options.root == "/" ? "/proc/thread-self/net/packet" : "/proc/net/packet";
  const auto text = read_text_file(options.root, path);
  if (!text) {
    ends.missing.push_back(text.error().message);
    return;
  }
  auto own = sockets_of(options.root, "self");
  for (const int pid : options.known_pids) {
    own.merge(sockets_of(options.root, std::to_string(pid)));
  }
  ends.gauges["packet_sockets.foreign"] = count_packet_sockets(*text, options.interface_index, own);
}

void add_cpu_limit(const HostEnds& before, const HostEnds& after, CounterDelta& result) {
  std::optional<CpuLimitCounts> worst;
  for (std::size_t level = 0; level < std::min(before.cpu_limits.size(), after.cpu_limits.size());
       ++level) {
    const auto& old = before.cpu_limits[level];
    const auto& now = after.cpu_limits[level];
    if (!old || !now || now->periods < old->periods || now->throttled < old->throttled) {
      continue;
    }
    const CpuLimitCounts moved{now->periods - old->periods, now->throttled - old->throttled,
                               std::max(0.0, now->throttled_s - old->throttled_s)};
    if (!worst ||
        std::pair(moved.throttled, moved.periods) > std::pair(worst->throttled, worst->periods)) {
      worst = moved;
    }
  }
  if (worst) {
    result.counters["cgroup.nr_periods"] = static_cast<double>(worst->periods);
    result.counters["cgroup.nr_throttled"] = static_cast<double>(worst->throttled);
    result.counters["cgroup.throttled_s"] = worst->throttled_s;
  }
}

void add_counts(const HostEnds& before, const HostEnds& after, CounterDelta& result) {
  for (const auto& [key, now] : after.counts) {
    const auto old = before.counts.find(key);
    if (old == before.counts.end()) {
      continue;
    }
    if (now < old->second) {
      result.notes.push_back(
          fmt::format("{} ran backwards ({} to {}): dropped", key, old->second, now));
    } else {
      result.counters[key] = static_cast<double>(now - old->second);
    }
  }
}

void add_gauges(const HostEnds& before, const HostEnds& after, CounterDelta& result) {
  for (const auto& [key, now] : after.gauges) {
    const auto old = before.gauges.find(key);
    const bool larger_before =
        key == "packet_sockets.foreign" && old != before.gauges.end() && old->second > now;
    result.counters[key] = static_cast<double>(larger_before ? old->second : now);
  }
}

}  // namespace

HostEnds read_host_ends(const HostEndsOptions& options) {
  HostEnds ends;
  take_number(options, "/proc/pressure/cpu", parse_pressure, "psi.cpu_some_us", ends.counts, ends);
  take_number(options, "/proc/sys/net/netfilter/nf_conntrack_count", parse_count, "conntrack.count",
              ends.gauges, ends);
  take_aer(options, ends);
  take_members(options, ends);
  take_cpu_limits(options, ends);
  take_packet_sockets(options, ends);
  return ends;
}

CounterDelta host_ends_delta(const HostEnds& before, const HostEnds& after) {
  CounterDelta result;
  add_counts(before, after, result);
  add_gauges(before, after, result);
  add_cpu_limit(before, after, result);
  for (const auto* ends : {&before, &after}) {
    for (const auto& missing : ends->missing) {
      if (std::ranges::find(result.notes, missing) == result.notes.end()) {
        result.notes.push_back(missing);
      }
    }
  }
  return result;
}

}  // namespace netbench::facts
