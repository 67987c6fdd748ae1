#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "report/render/format.hpp"
#include "report/render/render.hpp"

namespace netbench::report {

namespace {

using Number = std::optional<double> Summary::*;

struct NumberColumn {
  std::string_view heading;
  Number member;
};
constexpr std::array<NumberColumn, 32> kNumbers{{
    {"goodput_bps", &Summary::goodput_bps},
    {"goodput_low_bps", &Summary::goodput_low_bps},
    {"goodput_high_bps", &Summary::goodput_high_bps},
    {"forward_bps", &Summary::forward_bps},
    {"reverse_bps", &Summary::reverse_bps},
    {"ceiling_bps", &Summary::ceiling_bps},
    {"messages_per_s", &Summary::messages_per_s},
    {"messages_low_per_s", &Summary::messages_low_per_s},
    {"messages_high_per_s", &Summary::messages_high_per_s},
    {"rtt_min_ns", &Summary::rtt_min_ns},
    {"rtt_p50_ns", &Summary::rtt_p50_ns},
    {"rtt_p50_low_ns", &Summary::rtt_p50_low_ns},
    {"rtt_p50_high_ns", &Summary::rtt_p50_high_ns},
    {"rtt_p90_ns", &Summary::rtt_p90_ns},
    {"rtt_p99_ns", &Summary::rtt_p99_ns},
    {"rtt_p999_ns", &Summary::rtt_p999_ns},
    {"rtt_max_ns", &Summary::rtt_max_ns},
    {"cpu_initiator_s_per_gb", &Summary::cpu_s_per_gb_initiator},
    {"cpu_responder_s_per_gb", &Summary::cpu_s_per_gb_responder},
    {"softirq_initiator_s_per_gb", &Summary::softirq_s_per_gb_initiator},
    {"softirq_responder_s_per_gb", &Summary::softirq_s_per_gb_responder},
    {"steal_initiator_share", &Summary::steal_share_initiator},
    {"steal_responder_share", &Summary::steal_share_responder},
    {"retransmitted_segments", &Summary::retransmitted_segments},
    {"spurious_retransmits", &Summary::spurious_retransmits},
    {"lost_datagrams", &Summary::lost_datagrams},
    {"socket_drops", &Summary::socket_drops},
    {"reordered_datagrams", &Summary::reordered_datagrams},
    {"duplicate_datagrams", &Summary::duplicate_datagrams},
    {"jitter_ns", &Summary::jitter_ns},
    {"wire_disagreement_share", &Summary::wire_disagreement},
    {"round_cv_share", &Summary::round_cv},
}};

/// RFC 4180, section 2: quoted where it holds a comma, a quote or a line break.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string joined(const std::set<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ";"));
}

std::string value_of(const ValueMap& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? std::string() : value_text(found->second);
}

/// A kind of tunable columns: the prefix of the heading and where the values stand.
struct TunableColumns {
  std::string_view prefix;
  ValueMap TunableRecord::*map;
};
constexpr std::array<TunableColumns, 3> kTunables{
    {{"requested.", &TunableRecord::requested},
     {"initiator.", &TunableRecord::effective_initiator},
     {"responder.", &TunableRecord::effective_responder}}};

std::set<std::string> names_in(const Document& document, ValueMap TunableRecord::*map) {
  std::set<std::string> names;
  for (const Measurement& row : document.measurements) {
    for (const auto& [name, value] : row.tunables.*map) {
      names.insert(name);
    }
  }
  return names;
}

struct TextColumn {
  std::string_view heading;
  std::string (*text)(const Measurement&);
};
constexpr std::array<std::string_view, 3> kStatus{"ok", "failed", "skipped"};
constexpr std::array<TextColumn, 13> kTexts{{
    {"id", [](const Measurement& row) { return row.id; }},
    {"transport", [](const Measurement& row) { return row.transport; }},
    {"workload", [](const Measurement& row) { return row.workload; }},
    {"direction", [](const Measurement& row) { return to_string(row.direction); }},
    {"size_bytes", [](const Measurement& row) { return std::to_string(row.size_bytes); }},
    {"mtu_bytes",
     [](const Measurement& row) {
       return row.mtu_bytes == 0 ? std::string() : std::to_string(row.mtu_bytes);
     }},
    {"status",
     [](const Measurement& row) {
       return std::string(kStatus.at(static_cast<std::size_t>(row.status)));
     }},
    {"error_code",
     [](const Measurement& row) { return row.error ? row.error->slug : std::string(); }},
    {"flags", [](const Measurement& row) { return joined(row.flags); }},
    {"n_rounds", [](const Measurement& row) { return std::to_string(row.summary.n_rounds); }},
    {"n_samples", [](const Measurement& row) { return std::to_string(row.summary.n_samples); }},
    {"confidence_level",
     [](const Measurement& row) { return fmt::format("{}", row.summary.confidence_level); }},
    {"stop_reasons", [](const Measurement& row) { return joined(row.summary.stop_reasons); }},
}};

/// Calls `use` with the heading and the text function of every column, in order.
void for_each_column(
    const Document& document,
    const std::function<void(const std::string&,
                             const std::function<std::string(const Measurement&)>&)>& use) {
  for (const TextColumn& column : kTexts) {
    use(std::string(column.heading), column.text);
  }
  for (const NumberColumn& column : kNumbers) {
    use(std::string(column.heading), [&](const Measurement& row) {
      const auto value = finite(row.summary.*column.member);
      return value ? fmt::format("{}", *value) : std::string();
    });
  }
  for (const TunableColumns& kind : kTunables) {
    for (const std::string& name : names_in(document, kind.map)) {
      use(fmt::format("{}{}", kind.prefix, name),
          [&](const Measurement& row) { return value_of(row.tunables.*kind.map, name); });
    }
  }
}

}  // namespace

std::string render_csv(const Document& document) {
  std::vector<std::string> lines(document.measurements.size() + 1);
  for_each_column(document, [&](const std::string& heading, const auto& text) {
    const auto add = [](std::string& line, const std::string& cell, bool first) {
      line += (first ? "" : ",") + field(cell);
    };
    const bool first = lines[0].empty();
    add(lines[0], heading, first);
    for (std::size_t i = 0; i < document.measurements.size(); ++i) {
      add(lines[i + 1], text(document.measurements[i]), first);
    }
  });
  return fmt::format("{}\r\n", fmt::join(lines, "\r\n"));
}

}  // namespace netbench::report
