#include "report/render/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/core/units.hpp"

namespace netbench::report {

namespace {

enum class Notation { plain, bytes, rate, time };

struct NameNotation {
  std::string_view ending;  // of the full name
  Notation notation;
};

/// Documents carry tunables in base units without naming the unit; these names have one.
constexpr std::array<NameNotation, 11> kNotations{{{"buf", Notation::bytes},
                                                   {".mss", Notation::bytes},
                                                   {".lowat", Notation::bytes},
                                                   {"_bytes", Notation::bytes},
                                                   {".pacing", Notation::rate},
                                                   {"udp.rate", Notation::rate},
                                                   {".read_rate", Notation::rate},
                                                   {".write_rate", Notation::rate},
                                                   {"_bps", Notation::rate},
                                                   {"_ns", Notation::time},
                                                   {".busy_poll", Notation::time}}};

Notation notation_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      kNotations, [&](const NameNotation& row) { return name.ends_with(row.ending); });
  return found == kNotations.end() ? Notation::plain : found->notation;
}

}  // namespace

std::optional<double> finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) {
    return fmt::format("{:g}", value);
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(digits - 1 - magnitude, 0, 9));
}

std::string value_text(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "unknown";
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "on" : "off";
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string tunable_text(std::string_view full_name, const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) {
    return value_text(value);
  }
  switch (notation_of(full_name)) {
    case Notation::bytes:
      return format_bytes(*number);
    case Notation::rate:
      return format_bits_per_second(static_cast<double>(*number));
    case Notation::time:
      return *number == 0 ? "off" : format_ns(static_cast<double>(*number));
    case Notation::plain:
      break;
  }
  return value_text(value);
}

std::string address_of(const Document& document, const std::string& host_id) {
  const auto found = document.hosts.find(host_id);
  if (found == document.hosts.end()) {
    return "?";
  }
  const HostInfo& host = found->second;
  return !host.addresses.empty() ? host.addresses.front() : host.name.empty() ? "?" : host.name;
}

std::string basis_text(const Summary& summary) {
  return fmt::format("{:g} %, n = {} rounds", summary.confidence_level * 100, summary.n_rounds);
}

std::string goodput_text(const Summary& summary) {
  const auto low = finite(summary.goodput_low_bps);
  const auto high = finite(summary.goodput_high_bps);
  const std::string value = format_bits_per_second(summary.goodput_bps.value_or(0));
  if (!low || !high) {
    return fmt::format("{} (n = {}, no interval)", value, summary.n_rounds);
  }
  return fmt::format("{} [{} to {}, {}]", value, format_bits_per_second(*low),
                     format_bits_per_second(*high), basis_text(summary));
}

std::string messages_text(const Measurement& row) {
  return fmt::format("{} messages", format_bytes(row.size_bytes));
}

}  // namespace netbench::report
