#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/tunable.hpp"

namespace netbench::plan {

/// More levels than this in one axis are taken for a mistake.
inline constexpr std::size_t kMaxLevels = 1000;

/// Smallest and largest MTU that can be asked for: RFC 791 section 3.2 (68), and the 16-bit total
/// length of an IPv4 packet.
inline constexpr std::int64_t kMinMtuBytes = 68;
inline constexpr std::int64_t kMaxMtuBytes = 65535;

/// Levels of a tunable from the command line: comma-separated `v`, `a:b:xN` (geometric) and
/// `a:b:+N` (arithmetic, step in the unit); the upper end is always included; `auto`, choices,
/// text, on/off/true/false/yes/no/1/0. Order is kept, repeated levels are dropped. Errors:
/// `bad-level`, exit class usage, naming the tunable, the text and what is allowed.
[[nodiscard]] Result<std::vector<Level>> parse_levels(const Tunable& tunable,
                                                      std::string_view text);

/// As parse_levels for exactly one level.
[[nodiscard]] Result<Level> parse_level(const Tunable& tunable, std::string_view text);

/// Message sizes in bytes, "64,1K,1:8M:x4"; 1 … 2^63-1. Errors: `bad-size`.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_sizes(std::string_view text);

/// Interface MTUs in bytes, "1500,9000"; kMinMtuBytes … kMaxMtuBytes. Errors: `bad-mtu`.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_mtus(std::string_view text);

/// The candidate that `text` was probably meant to be: smallest edit distance, at most a third of
/// its length (at least 1); empty where none is near.
[[nodiscard]] std::string nearest_name(std::string_view text, std::span<const std::string> names);

/// " (did you mean \"bbr\"?)" or "".
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string> names);

}  // namespace netbench::plan
