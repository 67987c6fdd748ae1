#include "bench/facts/counter_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

// Settings and momentary values among the counters.
constexpr std::array<std::string_view, 7> kGauges{
    "snmp.Tcp.RtoAlgorithm", "snmp.Tcp.RtoMin",    "snmp.Tcp.RtoMax",   "snmp.Tcp.MaxConn",
    "snmp.Tcp.CurrEstab",    "snmp.Ip.Forwarding", "snmp.Ip.DefaultTTL"};

std::uint64_t to_count(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::string counter_name(std::string_view prefix, std::string_view group, std::string_view name) {
  return group == "TcpExt" ? fmt::format("{}.{}", prefix, name)
                           : fmt::format("{}.{}.{}", prefix, group, name);
}

void add_pair(std::string_view names_line, std::string_view values_line, std::string_view prefix,
              NamedCounts& counts) {
  const auto names = split_words(names_line);
  const auto values = split_words(values_line);
  if (names.empty() || values.size() != names.size() || names[0] != values[0]) {
    return;
  }
  const auto group = names[0].substr(0, names[0].find(':'));
  for (std::size_t i = 1; i < names.size(); ++i) {
    auto name = counter_name(prefix, group, names[i]);
    if (std::ranges::find(kGauges, name) == kGauges.end()) {
      counts.emplace_back(std::move(name), to_count(values[i]));
    }
  }
}

}  // namespace

NamedCounts parse_paired_lines(std::string_view text, std::string_view prefix) {
  NamedCounts counts;
  const auto lines = split_lines(text);
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    add_pair(lines[i], lines[i + 1], prefix, counts);
  }
  return counts;
}

NamedCounts parse_snmp6(std::string_view text) {
  NamedCounts counts;
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    if (words.size() == 2) {
      counts.emplace_back(fmt::format("snmp6.{}", words[0]), to_count(words[1]));
    }
  }
  return counts;
}

NamedCounts parse_softnet(std::string_view text) {
  struct Column {
    const char* name;
    std::size_t index;
  };
  constexpr std::array kColumns{Column{"softnet.processed", 0}, Column{"softnet.dropped", 1},
                                Column{"softnet.time_squeeze", 2},
                                Column{"softnet.flow_limit", 10}};
  constexpr int kHexadecimal = 16;
  NamedCounts counts;
  for (const auto& column : kColumns) {
    counts.emplace_back(column.name, 0);
  }
  for (const auto line : split_lines(text)) {
    const auto words = split_words(line);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (kColumns.at(i).index < words.size()) {
        counts[i].second += to_count(words[kColumns.at(i).index], kHexadecimal);
      }
    }
  }
  return counts;
}

std::vector<CpuTicks> parse_proc_stat(std::string_view text) {
  constexpr std::array kFields{&CpuTicks::user,    &CpuTicks::nice,   &CpuTicks::system,
                               &CpuTicks::idle,    &CpuTicks::iowait, &CpuTicks::irq,
                               &CpuTicks::softirq, &CpuTicks::steal};
  std::vector<CpuTicks> cpus;
  for (const auto line : split_lines(text)) {
    if (!line.starts_with("cpu")) {
      break;  // the cpu lines come first; what follows is long
    }
    const auto words = split_words(line);
    CpuTicks ticks;
    ticks.cpu = static_cast<int>(to_integer(words[0].substr(3)).value_or(-1));
    for (std::size_t i = 0; i < kFields.size() && i + 1 < words.size(); ++i) {
      ticks.*kFields.at(i) = to_count(words[i + 1]);
    }
    cpus.push_back(ticks);
  }
  return cpus;
}

}  // namespace netbench::facts
