#include "bench/plan/tunable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace netbench::plan {

namespace {

constexpr std::array<std::string_view, 4> kTypes{"integer", "boolean", "choice", "text"};
constexpr std::array<std::string_view, 5> kUnits{"", "bytes", "ns", "bit/s", "count"};
constexpr std::array<std::string_view, 3> kScopes{"connection", "process", "host"};
constexpr std::array<std::string_view, 4> kPatterns{"ping_pong", "stream", "collective", "rate"};

/// Units of a number as typed: the largest of `names` that divides it without rest.
std::string typed(std::int64_t number, std::int64_t step, std::span<const std::string_view> names) {
  std::size_t index = 0;
  while (number != 0 && number % step == 0 && index + 1 < names.size()) {
    number /= step;
    ++index;
  }
  return fmt::format("{}{}", number, names[index]);
}

std::string typed(std::int64_t number, Unit unit) {
  constexpr std::array<std::string_view, 5> kBinary{"", "K", "M", "G", "T"};
  constexpr std::array<std::string_view, 5> kDecimal{"", "K", "M", "G", "T"};
  constexpr std::array<std::string_view, 4> kTimes{"ns", "us", "ms", "s"};
  switch (unit) {
    case Unit::bytes:
      return typed(number, 1024, kBinary);
    case Unit::bits_per_second:
      return typed(number, 1000, kDecimal);
    case Unit::nanoseconds:
      return typed(number, 1000, kTimes);
    case Unit::none:
    case Unit::count:
      break;
  }
  return fmt::format("{}", number);
}

std::string integer_range(const Tunable& tunable) {
  constexpr std::array<std::string_view, 5> kNouns{"a number", "a size", "a time",
                                                   "a rate in bit/s", "a number"};
  const std::string_view noun = kNouns.at(static_cast<std::size_t>(tunable.unit));
  const std::string low = typed(tunable.minimum, tunable.unit);
  if (tunable.maximum == std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("{} of at least {}", noun, low);
  }
  return fmt::format("{} from {} to {}", noun, low, typed(tunable.maximum, tunable.unit));
}

std::string choice_names(const Tunable& tunable) {
  std::string text;
  for (const Choice& choice : tunable.choices) {
    text += text.empty() ? choice.name : ", " + choice.name;
  }
  return "one of " + text;
}

template <class Container>
const typename Container::value_type* find_named(const Container& items, std::string_view name) {
  const auto found = std::ranges::find_if(items, [&](const auto& it) { return it.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(ValueType type) { return kTypes.at(static_cast<std::size_t>(type)); }
std::string_view to_string(Unit unit) { return kUnits.at(static_cast<std::size_t>(unit)); }
std::string_view to_string(Scope scope) { return kScopes.at(static_cast<std::size_t>(scope)); }
std::string_view to_string(Pattern pattern) {
  return kPatterns.at(static_cast<std::size_t>(pattern));
}

std::strong_ordering Level::operator<=>(const Level& other) const {
  if (is_auto != other.is_auto) {
    return is_auto ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (number != other.number) {
    return number <=> other.number;
  }
  return text.compare(other.text) <=> 0;
}

std::string to_string(const Level& level) { return to_string(level, Unit::none); }

std::string to_string(const Level& level, Unit unit) {
  if (level.is_auto) {
    return "auto";
  }
  return level.text.empty() ? typed(level.number, unit) : level.text;
}

std::string Tunable::full_name() const {
  return transport.empty() ? name : fmt::format("{}.{}", transport, name);
}

bool Tunable::applies_to(std::string_view workload) const {
  return workloads.empty() || std::ranges::find(workloads, workload) != workloads.end();
}

bool Tunable::swept_in(std::string_view workload) const {
  return !sweep.empty() && applies_to(workload) &&
         (sweep_workloads.empty() ||
          std::ranges::find(sweep_workloads, workload) != sweep_workloads.end());
}

std::string allowed_values(const Tunable& tunable) {
  const auto plain = [&]() -> std::string {
    switch (tunable.type) {
      case ValueType::boolean:
        return "on or off";
      case ValueType::choice:
        return choice_names(tunable);
      case ValueType::text:
        return "text";
      case ValueType::integer:
        break;
    }
    return integer_range(tunable);
  };
  return tunable.allows_auto ? plain() + ", or auto" : plain();
}

Value to_value(const Tunable& tunable, const Level& level) {
  if (level.is_auto) {
    return std::string("auto");
  }
  switch (tunable.type) {
    case ValueType::boolean:
      return level.number != 0;
    case ValueType::integer:
      return level.number;
    case ValueType::choice:
    case ValueType::text:
      break;
  }
  return level.text;
}

const Workload* TransportSpec::find_workload(std::string_view workload) const {
  return find_named(workloads, workload);
}

const Tunable* TransportSpec::find_tunable(std::string_view tunable) const {
  return find_named(tunables, tunable);
}

}  // namespace netbench::plan
