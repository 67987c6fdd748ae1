#include "report/diagnose/cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace netbench::report {

namespace {

/// A list is not believed to name more.
constexpr int kMostCpus = 8192;
/// Share of the row's time for which a core may have been busy.
constexpr double kQuiet = 0.5;

std::optional<int> to_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value < kMostCpus ? std::optional(value) : std::nullopt;
}

/// One end of a row.
struct Side {
  const HostInfo* host = nullptr;
  const ValueMap& effective;
  EndRecord Round::*record;
};

std::string text_at(const ValueMap& values, const char* name) {
  const auto found = values.find(name);
  const auto* text = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

std::string fact_text(const HostInfo& host, const std::string& key) {
  const Fact* fact = find_fact(host, key);
  const auto* text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->value);
  return text == nullptr ? std::string{} : *text;
}

/// Seconds that a CPU was busy over the row; those that were hardly busy are not counted.
std::map<int, double> busy_seconds(const Measurement& row, const Side& side) {
  constexpr std::string_view kPrefix = "cpu.";
  constexpr std::string_view kSuffix = ".busy_s";
  std::map<int, double> busy;
  for (const Round& round : row.rounds) {
    for (const auto& [key, seconds] : (round.*side.record).counters) {
      if (!key.starts_with(kPrefix) || !key.ends_with(kSuffix) ||
          key.size() <= kPrefix.size() + kSuffix.size()) {
        continue;
      }
      const auto number = to_number(std::string_view(key).substr(
          kPrefix.size(), key.size() - kPrefix.size() - kSuffix.size()));
      if (number) {
        busy[*number] += seconds;
      }
    }
  }
  return busy;
}

double elapsed_seconds(const Measurement& row, const Side& side) {
  double seconds = 0;
  for (const Round& round : row.rounds) {
    seconds += (round.*side.record).elapsed_s;
  }
  return seconds;
}

/// What the threads of an end may be moved to, the best first. A core that others keep busy would
/// prove nothing.
std::vector<int> candidates(const Measurement& row, const Side& side, const std::set<int>& taken) {
  if (side.host == nullptr) {
    return {};
  }
  std::vector<int> free = cpus_of(fact_text(*side.host, "process.cpus_allowed"));
  std::set<int> left = taken;
  for (const int cpu : cpus_of(text_at(side.effective, "tcp.cpu"))) {
    left.insert(cpu);
  }
  const auto busy = busy_seconds(row, side);
  const auto seconds = [&](int cpu) { return busy.contains(cpu) ? busy.at(cpu) : 0.0; };
  if (left.size() == taken.size() && !free.empty()) {  // not pinned: the busiest was theirs
    left.insert(*std::ranges::max_element(free, {}, seconds));
  }
  const double most = kQuiet * elapsed_seconds(row, side);
  std::erase_if(free, [&](int cpu) { return left.contains(cpu) || seconds(cpu) > most; });
  const auto near =
      cpus_of(fact_text(*side.host, fmt::format("if.{}.local_cpus", side.host->interface)));
  std::ranges::stable_sort(free, {}, [&](int cpu) {
    const bool far = !near.empty() && std::ranges::find(near, cpu) == near.end();
    return std::pair(far, seconds(cpu));
  });
  return free;
}

std::size_t streams_of(const ValueMap& effective) {
  const auto found = effective.find("tcp.streams");
  const auto* count =
      found == effective.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return count != nullptr && *count > 1 ? static_cast<std::size_t>(*count) : 1;
}

/// What the threads of an end stay on, as a list: where they are pinned, or all that is allowed.
std::string as_it_is(const Side& side) {
  const auto pinned = cpus_of(text_at(side.effective, "tcp.cpu"));
  const auto allowed = side.host == nullptr
                           ? std::vector<int>{}
                           : cpus_of(fact_text(*side.host, "process.cpus_allowed"));
  return fmt::format("{}", fmt::join(pinned.empty() ? allowed : pinned, "+"));
}

}  // namespace

std::vector<int> cpus_of(std::string_view list) {
  std::vector<int> cpus;
  while (!list.empty()) {
    const auto comma = std::min(list.find_first_of(",+"), list.size());
    const std::string_view part = list.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = to_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_number(part.substr(dash + 1));
    if (!first || !last) {
      return {};
    }
    for (int cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(cpu);
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return cpus;
}

std::optional<std::string> other_cores(const Document& document, const Measurement& row) {
  const auto host = [&](const char* key) {
    const auto found = document.hosts.find(key);
    return found == document.hosts.end() ? nullptr : &found->second;
  };
  const std::array<Side, 2> sides{
      {{host("h0"), row.tunables.effective_initiator, &Round::initiator},
       {host("h1"), row.tunables.effective_responder, &Round::responder}}};
  std::set<int> taken;
  std::vector<std::string> lists;
  bool moves = false;
  for (const Side& side : sides) {
    auto chosen = candidates(row, side, taken);
    chosen.resize(std::min(chosen.size(), streams_of(side.effective)));
    moves = moves || !chosen.empty();
    lists.push_back(chosen.empty() ? as_it_is(side) : fmt::format("{}", fmt::join(chosen, "+")));
    if (document.run.same_machine) {
      taken.insert(chosen.begin(), chosen.end());
    }
  }
  if (!moves || lists[0].empty() || lists[1].empty()) {
    return std::nullopt;
  }
  return fmt::format("{}:{}", lists[0], lists[1]);
}

}  // namespace netbench::report
