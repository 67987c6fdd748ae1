#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/model/document.hpp"

namespace netbench::report {

/// A finite optional; NaN counts as absent.
[[nodiscard]] std::optional<double> finite(const std::optional<double>& value);

/// `digits` significant digits without an exponent: 9.412, 94.12, 941.2, 9412.
[[nodiscard]] std::string significant(double value, int digits);

/// A value of a tunable as it would be typed: sizes of buffers and segments as "64 KiB", rates as
/// "100.0 Mb/s", "on"/"off".
[[nodiscard]] std::string tunable_text(std::string_view full_name, const Value& value);

/// A value of the configuration: as it is; "unknown" for null.
[[nodiscard]] std::string value_text(const Value& value);

/// "192.168.1.101", or the host's name where it has no address, or "?".
[[nodiscard]] std::string address_of(const Document& document, const std::string& host_id);

/// What an interval is worth: "95 %, n = 5 rounds".
[[nodiscard]] std::string basis_text(const Summary& summary);

/// "9.412 Gb/s [9.403-9.421 Gb/s, 95 %, n = 5 rounds]"; without the brackets where there is no
/// interval.
[[nodiscard]] std::string goodput_text(const Summary& summary);

/// The short form of a message size for a sentence: "64 KiB messages".
[[nodiscard]] std::string messages_text(const Measurement& row);

}  // namespace netbench::report
