#include "bench/core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace netbench {

namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr double kKi = 1024.0;
constexpr std::array<Suffix, 13> kByteSuffixes{{{"", 1},
                                                {"B", 1},
                                                {"K", kKi},
                                                {"KiB", kKi},
                                                {"Ki", kKi},
                                                {"M", kKi* kKi},
                                                {"MiB", kKi* kKi},
                                                {"Mi", kKi* kKi},
                                                {"G", kKi* kKi* kKi},
                                                {"GiB", kKi* kKi* kKi},
                                                {"Gi", kKi* kKi* kKi},
                                                {"T", kKi* kKi* kKi* kKi},
                                                {"TiB", kKi* kKi* kKi* kKi}}};
constexpr std::array<Suffix, 8> kRateSuffixes{{{"", 1},
                                               {"K", 1e3},
                                               {"k", 1e3},
                                               {"M", 1e6},
                                               {"G", 1e9},
                                               {"T", 1e12},
                                               {"Mb/s", 1e6},
                                               {"Gb/s", 1e9}}};
constexpr std::array<Suffix, 7> kTimeSuffixes{
    {{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};

struct Kind {
  std::string_view slug;
  std::string_view noun;
  std::string_view examples;
  std::span<const Suffix> suffixes;
};

tl::unexpected<Error> refuse(const Kind& kind, std::string_view text, std::string_view why) {
  return fail(std::string(kind.slug), fmt::format("\"{}\" is not a {}: {}", text, kind.noun, why),
              fmt::format("Write it like {}.", kind.examples), ExitClass::usage);
}

Result<std::int64_t> parse_scaled(const Kind& kind, std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || !std::isfinite(number)) {
    return refuse(kind, text, "it has no number in front");
  }
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const Suffix& suffix : kind.suffixes) {
    if (suffix.text != unit) {
      continue;
    }
    const double value = number * suffix.factor;
    if (value < 0) {
      return refuse(kind, text, "it is negative");
    }
    if (value >= 9.2233720368547758e18) {
      return refuse(kind, text, "it is larger than 2^63-1");
    }
    return static_cast<std::int64_t>(std::llround(value));
  }
  return refuse(kind, text, fmt::format("the unit \"{}\" is unknown", unit));
}

std::string with_prefix(double value, double step, std::span<const std::string_view> units,
                        int digits) {
  std::size_t index = 0;
  while (std::abs(value) >= step && index + 1 < units.size()) {
    value /= step;
    ++index;
  }
  const int integer_digits = std::abs(value) >= 100 ? 3 : std::abs(value) >= 10 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, std::max(digits - integer_digits, 0), units[index]);
}

}  // namespace

Result<std::int64_t> parse_bytes(std::string_view text) {
  return parse_scaled({"bad-size", "size", "1500, 64K, 1M or 2GiB", kByteSuffixes}, text);
}

Result<std::int64_t> parse_bits_per_second(std::string_view text) {
  return parse_scaled({"bad-rate", "rate in bit/s", "100M, 2.5G or 1000000", kRateSuffixes}, text);
}

Result<std::int64_t> parse_duration_ns(std::string_view text) {
  return parse_scaled({"bad-time", "time", "250ms, 5s or 2m", kTimeSuffixes}, text);
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end) {
    return fail("bad-number", fmt::format("\"{}\" is not a whole number", text), {},
                ExitClass::usage);
  }
  return number;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t index = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && index + 1 < kUnits.size()) {
    bytes /= 1024;
    ++index;
  }
  return fmt::format("{} {}", bytes, kUnits[index]);
}

std::string format_bits_per_second(double bits_per_second) {
  constexpr std::array<std::string_view, 5> kUnits{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
  return with_prefix(bits_per_second, 1000, kUnits, 4);
}

std::string format_ns(double nanoseconds) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  return with_prefix(nanoseconds, 1000, kUnits, 3);
}

}  // namespace netbench
