#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"

namespace netbench {

/// Parses a size: "65536", "64K", "1M", "2G", "64KiB" (IEC, powers of 1024; "KB" is refused as
/// ambiguous). Result in bytes, 0 … 2^63-1. Errors: `bad-size`, exit class usage, naming the text.
[[nodiscard]] Result<std::int64_t> parse_bytes(std::string_view text);

/// Parses a rate: "100M", "2.5G", "1000000" (decimal, bit/s). Errors: `bad-rate`.
[[nodiscard]] Result<std::int64_t> parse_bits_per_second(std::string_view text);

/// Parses a time: "250ms", "5s", "2m", "100us", "1.5" (seconds). Result in ns. Errors: `bad-time`.
[[nodiscard]] Result<std::int64_t> parse_duration_ns(std::string_view text);

/// Parses a whole number. Errors: `bad-number`.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text);

/// IEC size without loss where possible: 65536 → "64 KiB", 1500 → "1500 B".
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

/// Decimal rate with four significant digits: 9.412e9 → "9.412 Gb/s".
[[nodiscard]] std::string format_bits_per_second(double bits_per_second);

/// Time with three significant digits: 18400 → "18.4 us".
[[nodiscard]] std::string format_ns(double nanoseconds);

}  // namespace netbench
