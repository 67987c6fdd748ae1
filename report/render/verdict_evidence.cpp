#include "report/render/verdict_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "bench/core/units.hpp"
#include "bench/model/pointer.hpp"
#include "report/render/format.hpp"

namespace netbench::report {

namespace {

constexpr double kMicro = 1e3;   // ns in a us
constexpr double kSecond = 1e9;  // ns in a s
constexpr double kBits = 8;      // bits in a byte

/// Exact where that is short: a small number, or fewer than 1024 of its unit.
std::string bytes_text(double value) {
  constexpr double kKiB = 1024;
  constexpr double kExact = 64 * kKiB;
  if (std::abs(value) <= kExact) {
    return format_bytes(static_cast<std::int64_t>(value));
  }
  constexpr std::array<std::string_view, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (value /= kKiB; std::abs(value) >= kKiB && unit + 1 < kNames.size(); ++unit) {
    value /= kKiB;
  }
  if (std::fmod(value, 1) == 0) {
    return fmt::format("{:.0f} {}", value, kNames.at(unit));
  }
  return fmt::format("{} {}", significant(value, 3), kNames.at(unit));
}

std::string bytes_per_s_text(double value) { return format_bits_per_second(value * kBits); }
std::string us_text(double value) { return value == 0 ? "0 us" : format_ns(value * kMicro); }
std::string s_text(double value) { return value == 0 ? "0 s" : format_ns(value * kSecond); }
std::string share_text(double value) { return fmt::format("{:.1f} %", value * 100); }
std::string hz_text(double value) { return fmt::format("{:.4g} GHz", value / 1e9); }
std::string gts_text(double value) { return fmt::format("{:g} GT/s", value); }
std::string celsius_text(double value) { return fmt::format("{:g} C", value); }
std::string dbm_text(double value) { return fmt::format("{:g} dBm", value); }
std::string segments_text(double value) { return fmt::format("{:.0f} segments", value); }

struct UnitOf {
  std::string_view ending;  // of the key
  std::string (*text)(double value);
};

/// The longer endings first. tcp_info's own names carry no unit (linux/tcp.h): windows are bytes,
/// rates bytes a second, cwnd segments.
constexpr std::array<UnitOf, 28> kUnits{{{"cwnd", segments_text},
                                         {"_wnd", bytes_text},
                                         {"_mss", bytes_text},
                                         {"advmss", bytes_text},
                                         {".mss", bytes_text},
                                         {".pmtu", bytes_text},
                                         {"rcv_space", bytes_text},
                                         {"_ssthresh", segments_text},
                                         {"pacing_rate", bytes_per_s_text},
                                         {"delivery_rate", bytes_per_s_text},
                                         {".rcvbuf", bytes_text},
                                         {".sndbuf", bytes_text},
                                         {".lowat", bytes_text},
                                         {".pacing", format_bits_per_second},
                                         {"udp.rate", format_bits_per_second},
                                         {"read_rate", format_bits_per_second},
                                         {"write_rate", format_bits_per_second},
                                         {"_bytes", bytes_text},
                                         {"_bps", format_bits_per_second},
                                         {"_ns", format_ns},
                                         {"_us", us_text},
                                         {"_s", s_text},
                                         {"share", share_text},
                                         {"_hz", hz_text},
                                         {"_gts", gts_text},
                                         {"temperature_c", celsius_text},
                                         {"_dbm", dbm_text},
                                         {"tcp_efficiency", share_text}}};

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* fraction = std::get_if<double>(&value);
  return fraction == nullptr ? std::nullopt : std::optional(*fraction);
}

std::string host_name(const Document& document, const std::string& id) {
  const auto found = document.hosts.find(id);
  return found == document.hosts.end() || found->second.name.empty() ? id : found->second.name;
}

/// "/a/b/c" → "b" for index 1; escapes are undone where the text is shown.
std::vector<std::string> split(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (pointer.starts_with('/')) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string token(pointer.substr(1, end - 1));
    for (const auto& [code, plain] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
      for (auto at = token.find(code); at != std::string::npos; at = token.find(code, at + 1)) {
        token.replace(at, 2, plain);
      }
    }
    tokens.push_back(std::move(token));
    pointer.remove_prefix(end);
  }
  return tokens;
}

struct Item {
  std::string label;  // what it is, without the round
  std::string text;   // the whole line
};

Item item(const std::string& whose, std::string_view key, const Value& value,
          std::string_view more = {}) {
  const std::string label = fmt::format("{}{}{}", whose, whose.empty() ? "" : ": ", key);
  return {label, fmt::format("{} = {}{}", label, quantity_text(key, value), more)};
}

std::string text_at(const Document& document, const std::string& pointer) {
  const auto value = value_at(document, pointer);
  return value ? value_text(*value) : std::string();
}

Item fact_item(const Document& document, const std::string& pointer,
               const std::vector<std::string>& tokens) {
  const auto value = value_at(document, pointer + "/value");
  return item(host_name(document, tokens[1]), text_at(document, pointer + "/key"),
              value.value_or(Value{}));
}

Item intervention_item(const Document& document, const std::vector<std::string>& tokens) {
  std::size_t index = document.interventions.size();
  std::from_chars(tokens[1].data(), tokens[1].data() + tokens[1].size(), index);
  if (index >= document.interventions.size()) {
    return {};
  }
  const std::string text = intervention_text(document.interventions[index]);
  return {text, text};
}

/// Of /measurements/N/summary: "goodput of tcp/bandwidth/forward/131072 = 9.41 Gb/s".
Item summary_item(const std::string& row, const std::vector<std::string>& tokens,
                  const Value& value) {
  const std::string& key = tokens[3];
  const std::string name = key.substr(0, key.rfind('_'));
  const std::string label = fmt::format("{}{}{} of {}", name, tokens.size() > 4 ? " " : "",
                                        tokens.size() > 4 ? tokens[4] : "", row);
  return {label, fmt::format("{} = {}", label, quantity_text(key, value))};
}

/// Below /measurements/N.
Item row_item(const Document& document, const std::string& pointer,
              const std::vector<std::string>& tokens) {
  const std::string row = text_at(document, fmt::format("/measurements/{}/id", tokens[1]));
  const auto value = value_at(document, pointer);
  if (!value) {
    return tokens.size() == 2 && !row.empty() ? Item{row, "row " + row} : Item{};
  }
  const auto end = std::ranges::find_if(
      tokens, [](const auto& token) { return token == "initiator" || token == "responder"; });
  const std::string whose =
      end == tokens.end() ? std::string() : host_name(document, *end == "initiator" ? "h0" : "h1");
  if (tokens[2] == "summary" && end == tokens.end()) {
    return summary_item(row, tokens, *value);
  }
  return item(whose, tokens.back(), *value, tokens[2] == "tunables" ? " in effect" : "");
}

Item item_of(const Document& document, const std::string& pointer) {
  const std::vector<std::string> tokens = split(pointer);
  if (tokens.size() == 4 && tokens[0] == "hosts" && tokens[2] == "facts") {
    return fact_item(document, pointer, tokens);
  }
  if (tokens.size() >= 2 && tokens[0] == "interventions") {
    return intervention_item(document, tokens);
  }
  if (tokens.size() >= 2 && tokens[0] == "measurements") {
    return row_item(document, pointer, tokens);
  }
  const auto value = value_at(document, pointer);
  return value ? item("", fmt::format("{}", fmt::join(tokens, ".")), *value) : Item{};
}

}  // namespace

std::string quantity_text(std::string_view key, const Value& value) {
  const auto number = number_of(value);
  if (number && key.find(".bytes_") != std::string_view::npos) {
    return bytes_text(*number);  // tcp_info.bytes_acked and the like
  }
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const UnitOf& one) { return key.ends_with(one.ending); });
  if (number && unit != kUnits.end()) {
    return unit->text(*number);
  }
  const auto* fraction = std::get_if<double>(&value);
  return fraction == nullptr ? value_text(value) : fmt::format("{:.6g}", *fraction);
}

std::vector<std::string> evidence_lines(const Document& document,
                                        const std::vector<std::string>& pointers) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const std::string& pointer : pointers) {
    Item found = item_of(document, pointer);
    if (!found.text.empty() && seen.insert(found.label).second) {
      lines.push_back(std::move(found.text));
    }
  }
  return lines;
}

std::string intervention_text(const Intervention& intervention) {
  if (intervention.n_pairs == 0) {
    return fmt::format("{}: {}", intervention.change, intervention.note);
  }
  return fmt::format("{} x {:.2f} [{:.2f}-{:.2f}, 95 %, n = {} pairs]: {}",
                     intervention.metric == "rtt_p50_ns" ? "round trip" : "goodput",
                     intervention.ratio, intervention.ratio_low, intervention.ratio_high,
                     intervention.n_pairs, intervention.change);
}

int row_of_pointer(std::string_view pointer) {
  constexpr std::string_view kRows = "/measurements/";
  int index = -1;
  if (pointer.starts_with(kRows)) {
    pointer.remove_prefix(kRows.size());
    std::from_chars(pointer.data(), pointer.data() + pointer.size(), index);
  }
  return index;
}

}  // namespace netbench::report
