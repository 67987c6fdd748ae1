#include "report/render/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "bench/core/units.hpp"
#include "report/render/format.hpp"
#include "report/render/layers.hpp"

namespace netbench::report {

namespace {

using Texts = std::vector<std::string>;

bool is_measured(const Measurement& row) {
  return row.status == MeasurementStatus::ok && row.summary.n_rounds > 0;
}

double goodput_of(const Measurement* row) { return row->summary.goodput_bps.value_or(0); }

bool has_goodput(const Measurement& row) {
  return is_measured(row) && row.workload == "bandwidth" &&
         finite(row.summary.goodput_bps).has_value();
}

/// "192.168.1.100 -> 192.168.1.101", by who sends.
std::string route_text(const Document& document, Direction direction) {
  constexpr std::array<std::string_view, 4> kArrows{"<->", "->", "<-", "<->"};
  return fmt::format("{} {} {}", address_of(document, "h0"),
                     kArrows.at(static_cast<std::size_t>(direction)), address_of(document, "h1"));
}

std::string against_wire(const Summary& summary) {
  const auto ceiling = finite(summary.ceiling_bps);
  if (ceiling && *ceiling > 0) {
    return fmt::format(", {:.1f} % of the {} the wire carries",
                       *summary.goodput_bps / *ceiling * 100, format_bits_per_second(*ceiling));
  }
  return summary.ceiling_note.empty()
             ? std::string()
             : fmt::format("; the wire's limit is {}", summary.ceiling_note);
}

void add_bandwidth(const Document& document, Texts& texts) {
  std::map<std::pair<std::string, Direction>, const Measurement*> best;
  for (const Measurement& row : document.measurements) {
    if (has_goodput(row)) {
      const Measurement*& place = best[{row.transport, row.direction}];
      place = place == nullptr || goodput_of(&row) > goodput_of(place) ? &row : place;
    }
  }
  for (const auto& [key, row] : best) {
    texts.push_back(fmt::format("{}, {}: {} with {}{}.", route_text(document, row->direction),
                                row->transport, goodput_text(row->summary), messages_text(*row),
                                against_wire(row->summary)));
  }
}

std::string interval_ns(const Summary& summary) {
  const auto low = finite(summary.rtt_p50_low_ns);
  const auto high = finite(summary.rtt_p50_high_ns);
  return low && high ? fmt::format(" [{} to {}, {}]", format_ns(*low), format_ns(*high),
                                   basis_text(summary))
                     : fmt::format(", n = {}, no interval", summary.n_rounds);
}

/// The unloaded round trip of the smallest message; the fastest way of waiting.
void add_latency(const Document& document, Texts& texts) {
  std::map<std::string, const Measurement*> best;
  for (const Measurement& row : document.measurements) {
    if (!is_measured(row) || row.workload != "latency" || !finite(row.summary.rtt_p50_ns)) {
      continue;
    }
    const Measurement*& place = best[row.transport];
    const auto rank = [](const Measurement& candidate) {
      return std::pair(candidate.size_bytes, *candidate.summary.rtt_p50_ns);
    };
    place = place == nullptr || rank(row) < rank(*place) ? &row : place;
  }
  for (const auto& [transport, row] : best) {
    const Summary& summary = row->summary;
    const auto p99 = finite(summary.rtt_p99_ns);
    texts.push_back(fmt::format("{}: half RTT {} with {} (median RTT {}{}{}).", transport,
                                format_ns(*summary.rtt_p50_ns / 2), messages_text(*row),
                                format_ns(*summary.rtt_p50_ns), interval_ns(summary),
                                p99 ? fmt::format(", p99 {}", format_ns(*p99)) : ""));
  }
}

/// A rate of things: "2.340 M", "19.20 k".
std::string rate_text(double per_s) {
  return per_s >= 1e6   ? significant(per_s / 1e6, 4) + " M"
         : per_s >= 1e3 ? significant(per_s / 1e3, 4) + " k"
                        : significant(per_s, 4);
}

void add_message_rate(const Document& document, Texts& texts) {
  const Measurement* best = nullptr;
  for (const Measurement& row : document.measurements) {
    if (is_measured(row) && row.workload == "message_rate" && finite(row.summary.messages_per_s) &&
        (best == nullptr || *row.summary.messages_per_s > *best->summary.messages_per_s)) {
      best = &row;
    }
  }
  if (best == nullptr) {
    return;
  }
  const Summary& summary = best->summary;
  const auto low = finite(summary.messages_low_per_s);
  const auto high = finite(summary.messages_high_per_s);
  const std::string basis = low && high ? fmt::format("[{} to {}, {}]", rate_text(*low),
                                                      rate_text(*high), basis_text(summary))
                                        : fmt::format("(n = {}, no interval)", summary.n_rounds);
  texts.push_back(fmt::format("{}: {} messages/s of {} each {}.", best->transport,
                              rate_text(*summary.messages_per_s), format_bytes(best->size_bytes),
                              basis));
}

/// 1: a is above b beyond both intervals; -1: below; 0: the intervals touch; nothing: no intervals.
std::optional<int> order_of(const Summary& a, const Summary& b) {
  const auto a_low = finite(a.goodput_low_bps);
  const auto a_high = finite(a.goodput_high_bps);
  const auto b_low = finite(b.goodput_low_bps);
  const auto b_high = finite(b.goodput_high_bps);
  if (!a_low || !a_high || !b_low || !b_high) {
    return std::nullopt;
  }
  return *a_low > *b_high ? 1 : *a_high < *b_low ? -1 : 0;
}

/// Two rows that differ in one factor, and how the other level did against the base.
struct Contrast {
  const Measurement* base = nullptr;
  const Measurement* other = nullptr;
};

std::string verdict(const Contrast& contrast) {
  const Summary& base = contrast.base->summary;
  const Summary& other = contrast.other->summary;
  const std::string numbers = fmt::format("{} against {}", goodput_text(other), goodput_text(base));
  const auto order = order_of(other, base);
  if (!order) {
    return fmt::format("{}; too few rounds to tell them apart", numbers);
  }
  constexpr std::array<std::string_view, 3> kVerdicts{"lower", "no difference beyond the intervals",
                                                      "higher"};
  return fmt::format("{}: {}", numbers, kVerdicts.at(static_cast<std::size_t>(*order + 1)));
}

/// The measurement without the factor, as a key: rows with equal keys differ in it alone.
std::string rest_of(const Measurement& row, const std::string& tunable) {
  std::string key = fmt::format("{} {} {} {} {}", row.transport, row.workload,
                                to_string(row.direction), row.size_bytes, row.mtu_bytes);
  for (const auto& [name, value] : row.tunables.requested) {
    if (name != tunable) {
      key += fmt::format(" {}={}", name, value_text(value));
    }
  }
  return key;
}

Value level_of(const Measurement& row, const std::string& tunable) {
  const auto found = row.tunables.requested.find(tunable);
  return found == row.tunables.requested.end() ? Value{std::string("auto")} : found->second;
}

/// The fastest explicit level against `auto`, everything else being equal, where auto did best.
Contrast buffer_contrast(const Document& document, const std::string& tunable) {
  const Value automatic{std::string("auto")};
  std::map<std::string, Contrast> groups;
  for (const Measurement& row : document.measurements) {
    if (!has_goodput(row) || !tunable.starts_with(row.transport + ".")) {
      continue;
    }
    Contrast& group = groups[rest_of(row, tunable)];
    const Measurement*& place = level_of(row, tunable) == automatic ? group.base : group.other;
    place = place == nullptr || goodput_of(&row) > goodput_of(place) ? &row : place;
  }
  Contrast best;
  for (const auto& [key, group] : groups) {
    const bool complete = group.base != nullptr && group.other != nullptr;
    if (complete && (best.base == nullptr || goodput_of(group.base) > goodput_of(best.base))) {
      best = group;
    }
  }
  return best;
}

void add_buffers(const Document& document, Texts& texts) {
  std::set<std::string> tunables;
  for (const Measurement& row : document.measurements) {
    for (const auto& [name, value] : row.tunables.requested) {
      if (name.ends_with(".sndbuf") || name.ends_with(".rcvbuf")) {
        tunables.insert(name);
      }
    }
  }
  for (const std::string& tunable : tunables) {
    const Contrast contrast = buffer_contrast(document, tunable);
    if (contrast.base != nullptr) {
      texts.push_back(fmt::format("{} {} instead of auto ({}, {}): {}.", tunable,
                                  tunable_text(tunable, level_of(*contrast.other, tunable)),
                                  messages_text(*contrast.base),
                                  to_string(contrast.base->direction), verdict(contrast)));
    }
  }
}

/// The best row of the largest MTU against the best of the smallest, forward and bandwidth only.
void add_mtu(const Document& document, Texts& texts) {
  std::map<std::int64_t, const Measurement*> best;
  for (const Measurement& row : document.measurements) {
    if (has_goodput(row) && row.transport == "tcp" && row.mtu_bytes > 0 &&
        row.direction == Direction::forward) {
      const Measurement*& place = best[row.mtu_bytes];
      place = place == nullptr || goodput_of(&row) > goodput_of(place) ? &row : place;
    }
  }
  if (best.size() < 2) {
    return;
  }
  const auto& [small, base] = *best.begin();
  const auto& [large, other] = *best.rbegin();
  texts.push_back(fmt::format("MTU {} instead of {} (best rows of each): {}.", large, small,
                              verdict({base, other})));
}

void add_layers(const Document& document, Texts& texts) {
  const Texts layers = layer_texts(document);
  texts.insert(texts.end(), layers.begin(), layers.end());
}

void add_loss(const Document& document, Texts& texts) {
  double lost = 0;
  double dropped = 0;
  bool counted = false;
  for (const Measurement& row : document.measurements) {
    counted = counted || finite(row.summary.lost_datagrams).has_value();
    lost += finite(row.summary.lost_datagrams).value_or(0);
    dropped += finite(row.summary.socket_drops).value_or(0);
  }
  if (counted) {
    texts.push_back(
        fmt::format("Datagrams over all rows: {:.0f} lost in the network, {:.0f} "
                    "dropped by the receiver's own socket.",
                    lost, dropped));
  }
}

void add_failures(const Document& document, Texts& texts) {
  std::map<std::string, int> slugs;
  int missing = 0;
  for (const Measurement& row : document.measurements) {
    if (row.status != MeasurementStatus::ok) {
      ++missing;
      ++slugs[row.error ? row.error->slug : "unknown"];
    }
  }
  if (missing == 0) {
    return;
  }
  std::string reasons;
  for (const auto& [slug, count] : slugs) {
    reasons += fmt::format("{}{} x {}", reasons.empty() ? "" : ", ", count, slug);
  }
  texts.push_back(fmt::format("{} of {} points have no result: {}.", missing,
                              document.measurements.size(), reasons));
}

}  // namespace

std::vector<std::string> plain_summary(const Document& document) {
  Texts texts;
  for (const auto add : {add_bandwidth, add_latency, add_message_rate, add_layers, add_buffers,
                         add_mtu, add_loss, add_failures}) {
    add(document, texts);
  }
  return texts;
}

}  // namespace netbench::report
