#include "report/document/plausible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace netbench::report {

namespace {

/// What the difference of two clock readings may fall below 0 by.
constexpr double kRounding = -0.01;

tl::unexpected<Error> implausible(const std::string& pointer, double value) {
  return fail("document-implausible",
              fmt::format("{}: expected a number of at least 0, found {:g}", pointer, value),
              "A counter was reset while it was watched (an interface that was reloaded), or this "
              "is a mistake: measure again, or leave that number out.");
}

std::string escaped(std::string_view key) {
  std::string text;
  for (const char letter : key) {
    text += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  }
  return text;
}

/// Characters by which a shell ends a word or begins another command, and what no name holds.
bool is_no_name(char letter) {
  constexpr std::string_view kShell = "$`;&|<>'\"\\";
  return static_cast<unsigned char>(letter) < ' ' || kShell.find(letter) != std::string_view::npos;
}

/// Keys of facts hold names of interfaces, which remedies name again.
Status check_name(const std::string& pointer, std::string_view name) {
  constexpr std::size_t kMaxBytes = 200;
  if (name.size() <= kMaxBytes && std::ranges::none_of(name, is_no_name)) {
    return {};
  }
  return fail(
      "document-implausible",
      fmt::format("{}: \"{}\" is no name of a fact, a tunable or an interface", pointer,
                  name.substr(0, kMaxBytes)),
      "No kernel or driver gives such names: the document was tampered with or is damaged.");
}

Status check_order(const std::string& pointer, const std::optional<double>& low,
                   const std::optional<double>& high) {
  if (!low || !high || *low <= *high) {
    return {};
  }
  return fail("document-implausible",
              fmt::format("{}: the lower end of the interval, {:g}, is above the upper one, {:g}",
                          pointer, *low, *high),
              "Exchange the two, or leave them out.");
}

/// A negative tunable: none has a range below 0.
Status check_tunables(const std::string& pointer, const ValueMap& tunables) {
  for (const auto& [name, value] : tunables) {
    if (Status named = check_name(pointer, name); !named) {
      return named;
    }
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* fraction = std::get_if<double>(&value);
    const double number = whole != nullptr      ? static_cast<double>(*whole)
                          : fraction != nullptr ? *fraction
                                                : 0;
    if (number < 0) {
      return implausible(fmt::format("{}/{}", pointer, escaped(name)), number);
    }
  }
  return {};
}

struct Number {
  std::string_view key;
  double value;
};

template <std::size_t N>
Status check_numbers(const std::string& pointer, const std::array<Number, N>& numbers) {
  for (const Number& number : numbers) {
    if (number.value < kRounding) {
      return implausible(fmt::format("{}/{}", pointer, number.key), number.value);
    }
  }
  return {};
}

Status check_end(const std::string& round, std::string_view end, const EndRecord& record) {
  for (const auto& [key, value] : record.counters) {
    if (value < kRounding) {
      return implausible(fmt::format("{}/counters/{}/{}", round, end, escaped(key)), value);
    }
  }
  constexpr std::array kTimes{std::pair{"cpu_s", &EndRecord::cpu_s},
                              std::pair{"softirq_s", &EndRecord::softirq_s},
                              std::pair{"steal_s", &EndRecord::steal_s},
                              std::pair{"foreign_cpu_s", &EndRecord::foreign_cpu_s},
                              std::pair{"elapsed_s", &EndRecord::elapsed_s}};
  for (const auto& [key, member] : kTimes) {
    if (record.*member < kRounding) {
      return implausible(fmt::format("{}/{}/{}", round, key, end), record.*member);
    }
  }
  return {};
}

Status check_stream(const std::string& pointer, const std::optional<StreamRecord>& record) {
  if (!record) {
    return {};
  }
  std::int64_t before_ns = 0;
  for (std::size_t i = 0; i < record->series.size(); ++i) {
    const SeriesPoint& point = record->series[i];
    if (point.bytes < 0) {
      return implausible(fmt::format("{}/series/bytes/{}", pointer, i),
                         static_cast<double>(point.bytes));
    }
    if (point.duration_ns < 0 || point.end_ns < before_ns) {
      return fail("document-implausible",
                  fmt::format("{}/series/end_ns/{}: the time runs backwards", pointer, i));
    }
    before_ns = point.end_ns;
  }
  return check_numbers(pointer,
                       std::array{
                           Number{"goodput_bps", record->goodput_bps},
                           Number{"measured_bytes", static_cast<double>(record->measured_bytes)},
                           Number{"measured_ns", static_cast<double>(record->measured_ns)},
                       });
}

Status check_round(const std::string& pointer, const Round& round) {
  Status checked = check_numbers(
      pointer, std::array{Number{"duration_ns", static_cast<double>(round.duration_ns)}});
  return checked.and_then([&] { return check_end(pointer, "initiator", round.initiator); })
      .and_then([&] { return check_end(pointer, "responder", round.responder); })
      .and_then([&] { return check_stream(pointer + "/forward", round.forward); })
      .and_then([&] { return check_stream(pointer + "/reverse", round.reverse); });
}

Status check_row(const std::string& pointer, const Measurement& row) {
  const Summary& summary = row.summary;
  Status checked = check_numbers(
      pointer, std::array{Number{"size_bytes", static_cast<double>(row.size_bytes)},
                          Number{"mtu_bytes", static_cast<double>(row.mtu_bytes)},
                          Number{"summary/goodput_bps", summary.goodput_bps.value_or(0)},
                          Number{"summary/forward_bps", summary.forward_bps.value_or(0)},
                          Number{"summary/reverse_bps", summary.reverse_bps.value_or(0)},
                          Number{"summary/messages_per_s", summary.messages_per_s.value_or(0)},
                          Number{"summary/ceiling_bps", summary.ceiling_bps.value_or(0)},
                          Number{"summary/rtt_ns/min", summary.rtt_min_ns.value_or(0)},
                          Number{"summary/rtt_ns/p50", summary.rtt_p50_ns.value_or(0)},
                          Number{"summary/lost_datagrams", summary.lost_datagrams.value_or(0)},
                          Number{"summary/socket_drops", summary.socket_drops.value_or(0)}});
  checked = checked
                .and_then([&] {
                  return check_order(pointer + "/summary/goodput_low_bps", summary.goodput_low_bps,
                                     summary.goodput_high_bps);
                })
                .and_then([&] {
                  return check_order(pointer + "/summary/messages_low_per_s",
                                     summary.messages_low_per_s, summary.messages_high_per_s);
                })
                .and_then([&] {
                  return check_order(pointer + "/summary/rtt_ns/p50_low", summary.rtt_p50_low_ns,
                                     summary.rtt_p50_high_ns);
                })
                .and_then([&] {
                  return check_tunables(pointer + "/tunables/requested", row.tunables.requested);
                })
                .and_then([&] {
                  return check_tunables(pointer + "/tunables/effective/initiator",
                                        row.tunables.effective_initiator);
                })
                .and_then([&] {
                  return check_tunables(pointer + "/tunables/effective/responder",
                                        row.tunables.effective_responder);
                });
  for (std::size_t i = 0; checked && i < row.rounds.size(); ++i) {
    checked = check_round(fmt::format("{}/rounds/{}", pointer, i), row.rounds[i]);
  }
  return checked;
}

Status check_host(const std::string& pointer, const HostInfo& host) {
  Status checked = check_name(pointer + "/interface", host.interface);
  for (std::size_t i = 0; checked && i < host.facts.size(); ++i) {
    checked = check_name(fmt::format("{}/facts/{}/key", pointer, i), host.facts[i].key);
  }
  return checked;
}

}  // namespace

Status check_plausible(const Document& document) {
  Status checked;
  for (const auto& [id, host] : document.hosts) {
    checked = checked.and_then([&] { return check_host("/hosts/" + escaped(id), host); });
  }
  for (std::size_t i = 0; checked && i < document.interventions.size(); ++i) {
    const Intervention& one = document.interventions[i];
    checked =
        check_order(fmt::format("/interventions/{}/ratio_low", i), one.ratio_low, one.ratio_high);
  }
  for (std::size_t i = 0; checked && i < document.measurements.size(); ++i) {
    checked = check_row(fmt::format("/measurements/{}", i), document.measurements[i]);
  }
  return checked;
}

}  // namespace netbench::report
