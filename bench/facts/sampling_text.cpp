#include "bench/facts/sampling_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

std::optional<std::uint64_t> to_unsigned(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// The number behind a word in a line.
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view word) {
  const auto words = split_words(line);
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? std::nullopt : to_unsigned(found[1]);
}

std::optional<std::uint64_t> number_of_line(std::string_view text, std::string_view word) {
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    if (words.size() == 2 && words[0] == word) {
      return to_unsigned(words[1]);
    }
  }
  return std::nullopt;
}

bool has_controller(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void add_levels(const std::string& mount, std::string_view group, std::vector<std::string>& paths) {
  while (group.size() > 1) {
    paths.push_back(fmt::format("{}{}/cpu.stat", mount, group));
    group = group.substr(0, group.rfind('/'));
  }
  paths.push_back(mount + "/cpu.stat");
}

}  // namespace

std::optional<CpuLimitCounts> parse_cpu_stat(std::string_view text) {
  const auto periods = number_of_line(text, "nr_periods");
  const auto throttled = number_of_line(text, "nr_throttled");
  const auto time_ns = number_of_line(text, "throttled_time");
  const auto time_us = number_of_line(text, "throttled_usec");
  if (!periods || !throttled || (!time_ns && !time_us)) {
    return std::nullopt;
  }
  const double throttled_s =
      time_ns ? 1e-9 * static_cast<double>(*time_ns) : 1e-6 * static_cast<double>(*time_us);
  return CpuLimitCounts{*periods, *throttled, throttled_s};
}

std::vector<std::string> cpu_stat_paths(std::string_view self_cgroup) {
  std::vector<std::string> version_1;
  std::vector<std::string> version_2;
  for (const auto line : split_lines(self_cgroup)) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto group = line.substr(second + 1);
    if (has_controller(controllers, "cpu")) {
      add_levels(fmt::format("/sys/fs/cgroup/{}", controllers), group, version_1);
      if (controllers != "cpu") {
        add_levels("/sys/fs/cgroup/cpu", group, version_1);
      }
    } else if (controllers.empty()) {
      add_levels("/sys/fs/cgroup", group, version_2);
    }
  }
  return version_1.empty() ? version_2 : version_1;
}

std::optional<std::uint64_t> parse_tcp_memory(std::string_view sockstat) {
  for (const auto line : split_lines(sockstat)) {
    if (line.starts_with("TCP:")) {
      return number_after(line, "mem");
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_aer_total(std::string_view text) {
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    if (words.size() == 2 && words[0].starts_with("TOTAL_ERR_")) {
      return to_unsigned(words[1]);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_pressure(std::string_view text) {
  constexpr std::string_view kTotal = "total=";
  for (const auto line : split_lines(text)) {
    for (const auto word : split_words(line)) {
      if (line.starts_with("some ") && word.starts_with(kTotal)) {
        return to_unsigned(word.substr(kTotal.size()));
      }
    }
  }
  return std::nullopt;
}

std::uint64_t count_packet_sockets(std::string_view text, int interface_index,
                                   const std::set<std::uint64_t>& own) {
  // Columns of net/packet/af_packet.c, packet_seq_show(): sk RefCnt Type Proto Iface R Rmem User
  // Inode. ETH_P_ALL, ETH_P_IP and ETH_P_IPV6 of linux/if_ether.h.
  constexpr std::array<std::string_view, 3> kTestProtocols{"0003", "0800", "86dd"};
  std::uint64_t count = 0;
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    const auto interface = words.size() < 9 ? std::nullopt : to_integer(words[4]);
    const auto inode = words.size() < 9 ? std::nullopt : to_unsigned(words[8]);
    if (interface && inode && (*interface == 0 || *interface == interface_index) &&
        std::ranges::find(kTestProtocols, words[3]) != kTestProtocols.end() &&
        !own.contains(*inode)) {
      ++count;
    }
  }
  return count;
}

std::optional<std::uint64_t> parse_socket_inode(std::string_view link) {
  constexpr std::string_view kPrefix = "socket:[";
  if (!link.starts_with(kPrefix) || !link.ends_with(']')) {
    return std::nullopt;
  }
  return to_unsigned(link.substr(kPrefix.size(), link.size() - kPrefix.size() - 1));
}

}  // namespace netbench::facts
