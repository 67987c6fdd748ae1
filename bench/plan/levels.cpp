#include "bench/plan/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "bench/core/units.hpp"

namespace netbench::plan {

namespace {

tl::unexpected<Error> refuse(const Tunable& tunable, std::string_view text, std::string_view why) {
  return fail("bad-level", fmt::format("--{} \"{}\": {}", tunable.full_name(), text, why),
              fmt::format("It takes {}; lists (v,v) and, for numbers, ranges (a:b:xN, a:b:+N).",
                          allowed_values(tunable)),
              ExitClass::usage);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) {
      return parts;
    }
    at = end + 1;
  }
}

Result<std::int64_t> parse_number(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::bytes:
      return parse_bytes(text);
    case Unit::nanoseconds:
      return parse_duration_ns(text);
    case Unit::bits_per_second:
      return parse_bits_per_second(text);
    case Unit::none:
    case Unit::count:
      break;
  }
  return parse_integer(text);
}

/// A number within the tunable's range.
Result<std::int64_t> parse_in_range(const Tunable& tunable, std::string_view text) {
  const auto number = parse_number(tunable.unit, text);
  if (!number) {
    return refuse(tunable, text, number.error().message);
  }
  if (*number < tunable.minimum || *number > tunable.maximum) {
    return refuse(tunable, text, *number < tunable.minimum ? "it is too small" : "it is too large");
  }
  return *number;
}

using Step = std::int64_t (*)(std::int64_t value, std::int64_t step);

std::int64_t limited_product(std::int64_t value, std::int64_t factor) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return value > kMax / factor ? kMax : value * factor;
}

std::int64_t limited_sum(std::int64_t value, std::int64_t step) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return value > kMax - step ? kMax : value + step;
}

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 0;
  Step next = nullptr;
};

Result<Range> parse_step(const Tunable& tunable, std::string_view text, Range range,
                         std::string_view step_text) {
  const bool geometric = step_text.starts_with('x');
  if (!geometric && !step_text.starts_with('+')) {
    return refuse(tunable, text, "the step of a range is xN (times N) or +N (plus N)");
  }
  const auto step = geometric ? parse_integer(step_text.substr(1))
                              : parse_number(tunable.unit, step_text.substr(1));
  if (!step || *step < (geometric ? 2 : 1)) {
    return refuse(tunable, text,
                  geometric ? "the factor after x is a whole number of at least 2"
                            : "the step after + is a number above 0");
  }
  if (geometric && range.first < 1) {
    return refuse(tunable, text, "a range with a factor starts at 1 or above");
  }
  range.step = *step;
  range.next = geometric ? limited_product : limited_sum;
  return range;
}

Result<Range> parse_range(const Tunable& tunable, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3) {
    return refuse(tunable, text, "a range has three parts: first:last:xN or first:last:+N");
  }
  const auto first = parse_in_range(tunable, parts[0]);
  if (!first) {
    return tl::unexpected(first.error());
  }
  const auto last = parse_in_range(tunable, parts[1]);
  if (!last) {
    return tl::unexpected(last.error());
  }
  if (*first > *last) {
    return refuse(tunable, text, "the first value of a range is above the last");
  }
  return parse_step(tunable, text, Range{.first = *first, .last = *last}, parts[2]);
}

Result<std::vector<Level>> expand(const Tunable& tunable, std::string_view text) {
  const auto range = parse_range(tunable, text);
  if (!range) {
    return tl::unexpected(range.error());
  }
  std::vector<Level> levels;
  for (std::int64_t value = range->first; value < range->last;
       value = range->next(value, range->step)) {
    levels.push_back(Level::integer(value));
    if (levels.size() > kMaxLevels) {
      return refuse(tunable, text, fmt::format("it has more than {} levels", kMaxLevels));
    }
  }
  levels.push_back(Level::integer(range->last));
  return levels;
}

struct BooleanWord {
  std::string_view word;
  bool value;
};
constexpr std::array<BooleanWord, 8> kBooleans{{{"on", true},
                                                {"off", false},
                                                {"true", true},
                                                {"false", false},
                                                {"yes", true},
                                                {"no", false},
                                                {"1", true},
                                                {"0", false}}};

Result<Level> parse_boolean(const Tunable& tunable, std::string_view text) {
  const auto* const found = std::ranges::find(kBooleans, text, &BooleanWord::word);
  if (found == kBooleans.end()) {
    return refuse(tunable, text, "it is neither on nor off");
  }
  return Level{found->value ? 1 : 0, found->value ? "on" : "off", false};
}

Result<Level> parse_choice(const Tunable& tunable, std::string_view text) {
  const auto found = std::ranges::find(tunable.choices, text, &Choice::name);
  if (found != tunable.choices.end()) {
    return Level{found - tunable.choices.begin(), found->name, false};
  }
  std::vector<std::string> names;
  std::ranges::transform(tunable.choices, std::back_inserter(names), &Choice::name);
  return refuse(tunable, text, "there is no such choice" + did_you_mean(text, names));
}

Result<Level> parse_single(const Tunable& tunable, std::string_view text) {
  if (text.empty()) {
    return refuse(tunable, text, "a level is empty");
  }
  if (text == "auto" && tunable.allows_auto) {
    return Level::automatic();
  }
  switch (tunable.type) {
    case ValueType::boolean:
      return parse_boolean(tunable, text);
    case ValueType::choice:
      return parse_choice(tunable, text);
    case ValueType::text:
      return Level{0, std::string(text), false};
    case ValueType::integer:
      break;
  }
  return parse_in_range(tunable, text).map(Level::integer);
}

Result<std::vector<Level>> parse_piece(const Tunable& tunable, std::string_view text) {
  if (tunable.type == ValueType::integer && text.find(':') != std::string_view::npos) {
    return expand(tunable, text);
  }
  return parse_single(tunable, text).map([](Level level) { return std::vector{std::move(level)}; });
}

Result<std::vector<std::int64_t>> parse_numbers(const Tunable& tunable, std::string_view text,
                                                std::string_view slug) {
  auto levels = parse_levels(tunable, text);
  if (!levels) {
    levels.error().slug = slug;
    return tl::unexpected(std::move(levels.error()));
  }
  std::vector<std::int64_t> numbers;
  std::ranges::transform(*levels, std::back_inserter(numbers), &Level::number);
  return numbers;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<std::vector<Level>> parse_levels(const Tunable& tunable, std::string_view text) {
  std::vector<Level> levels;
  for (const std::string_view piece : split(text, ',')) {
    const auto parsed = parse_piece(tunable, piece);
    if (!parsed) {
      return tl::unexpected(parsed.error());
    }
    for (const Level& level : *parsed) {
      if (std::ranges::find(levels, level) == levels.end()) {
        levels.push_back(level);
      }
    }
    if (levels.size() > kMaxLevels) {
      return refuse(tunable, text, fmt::format("it has more than {} levels", kMaxLevels));
    }
  }
  return levels;
}

Result<Level> parse_level(const Tunable& tunable, std::string_view text) {
  const auto levels = parse_levels(tunable, text);
  if (!levels) {
    return tl::unexpected(levels.error());
  }
  if (levels->size() != 1) {
    return refuse(tunable, text, "it takes one value here");
  }
  return levels->front();
}

Result<std::vector<std::int64_t>> parse_sizes(std::string_view text) {
  const Tunable size{.name = "size",
                     .unit = Unit::bytes,
                     .minimum = 1,
                     .maximum = std::numeric_limits<std::int64_t>::max()};
  return parse_numbers(size, text, "bad-size");
}

Result<std::vector<std::int64_t>> parse_mtus(std::string_view text) {
  const Tunable mtu{
      .name = "mtu", .unit = Unit::bytes, .minimum = kMinMtuBytes, .maximum = kMaxMtuBytes};
  return parse_numbers(mtu, text, "bad-mtu");
}

std::string nearest_name(std::string_view text, std::span<const std::string> names) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, text.size() / 3);
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < least || (distance == least && best == nullptr)) {
      least = distance;
      best = &name;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string> names) {
  const std::string name = nearest_name(text, names);
  return name.empty() ? name : fmt::format(" (did you mean \"{}\"?)", name);
}

}  // namespace netbench::plan
