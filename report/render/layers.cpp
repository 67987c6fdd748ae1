#include "report/render/layers.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>

#include "bench/core/units.hpp"
#include "report/render/format.hpp"

namespace netbench::report {

namespace {

constexpr std::array<Direction, 3> kDirections{Direction::forward, Direction::reverse,
                                               Direction::both};

bool is_measured(const Measurement& row) {
  return row.status == MeasurementStatus::ok && row.summary.n_rounds > 0;
}

std::string device_of(const ValueMap& effective) {
  const auto found = effective.find("verbs.device");
  const auto* text = found == effective.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

bool is_software(const Document& document, const std::string& host, const std::string& rail) {
  const auto found = document.hosts.find(host);
  const Fact* fact = found == document.hosts.end()
                         ? nullptr
                         : find_fact(found->second, fmt::format("rdma.{}.software", rail));
  return fact != nullptr && fact->value == Value(true);
}

/// "rxe0 of gpu01, rxe0 of gpu02": the rails of verbs rows that software drives.
std::string software_rails(const Document& document) {
  std::set<std::string> rails;
  for (const Measurement& row : document.measurements) {
    for (const auto& [host, effective] : {std::pair("h0", &row.tunables.effective_initiator),
                                          std::pair("h1", &row.tunables.effective_responder)}) {
      const std::string rail = device_of(*effective);
      if (row.transport == "verbs" && is_software(document, host, rail)) {
        rails.insert(fmt::format("{} of {}", rail, address_of(document, host)));
      }
    }
  }
  return fmt::format("{}", fmt::join(rails, ", "));
}

const Measurement* best_goodput(const Document& document, std::string_view transport,
                                Direction direction) {
  const Measurement* best = nullptr;
  for (const Measurement& row : document.measurements) {
    if (is_measured(row) && row.transport == transport && row.workload == "bandwidth" &&
        row.direction == direction && finite(row.summary.goodput_bps) &&
        (best == nullptr || *row.summary.goodput_bps > *best->summary.goodput_bps)) {
      best = &row;
    }
  }
  return best;
}

const Measurement* best_latency(const Document& document, std::string_view transport) {
  const Measurement* best = nullptr;
  const auto rank = [](const Measurement& row) {
    return std::pair(row.size_bytes, *row.summary.rtt_p50_ns);
  };
  for (const Measurement& row : document.measurements) {
    if (is_measured(row) && row.transport == transport && row.workload == "latency" &&
        finite(row.summary.rtt_p50_ns) && (best == nullptr || rank(row) < rank(*best))) {
      best = &row;
    }
  }
  return best;
}

/// A median with its interval.
struct Estimate {
  std::optional<double> low, median, high;
};

std::string ratio_text(const Estimate& verbs, const Estimate& tcp, const Summary& basis) {
  const std::string median = significant(*verbs.median / *tcp.median, 3);
  if (!verbs.low || !verbs.high || !tcp.low || !tcp.high || *tcp.low <= 0) {
    return fmt::format("{} times (no interval)", median);
  }
  return fmt::format("{} times [{} to {}, {}]", median, significant(*verbs.low / *tcp.high, 3),
                     significant(*verbs.high / *tcp.low, 3), basis_text(basis));
}

Estimate goodput(const Summary& summary) {
  return {finite(summary.goodput_low_bps), finite(summary.goodput_bps),
          finite(summary.goodput_high_bps)};
}

Estimate round_trip(const Summary& summary) {
  return {finite(summary.rtt_p50_low_ns), finite(summary.rtt_p50_ns),
          finite(summary.rtt_p50_high_ns)};
}

void add_goodput(const Document& document, Direction direction, std::vector<std::string>& texts) {
  constexpr std::array<std::string_view, 4> kArrows{"<->", "->", "<-", "<->"};
  const Measurement* verbs = best_goodput(document, "verbs", direction);
  const Measurement* tcp = best_goodput(document, "tcp", direction);
  if (verbs == nullptr || tcp == nullptr || *tcp->summary.goodput_bps <= 0) {
    return;
  }
  texts.push_back(
      fmt::format("{} {} {}: verbs carry {} what TCP does ({} against {}, the best row of each).",
                  address_of(document, "h0"), kArrows.at(static_cast<std::size_t>(direction)),
                  address_of(document, "h1"),
                  ratio_text(goodput(verbs->summary), goodput(tcp->summary), verbs->summary),
                  format_bits_per_second(*verbs->summary.goodput_bps),
                  format_bits_per_second(*tcp->summary.goodput_bps)));
}

void add_latency(const Document& document, std::vector<std::string>& texts) {
  const Measurement* verbs = best_latency(document, "verbs");
  const Measurement* tcp = best_latency(document, "tcp");
  if (verbs == nullptr || tcp == nullptr || *tcp->summary.rtt_p50_ns <= 0) {
    return;
  }
  texts.push_back(
      fmt::format("Half RTT of verbs is {} that of TCP ({} with {} against {} with {}).",
                  ratio_text(round_trip(verbs->summary), round_trip(tcp->summary), verbs->summary),
                  format_ns(*verbs->summary.rtt_p50_ns / 2), messages_text(*verbs),
                  format_ns(*tcp->summary.rtt_p50_ns / 2), messages_text(*tcp)));
}

}  // namespace

std::vector<std::string> layer_texts(const Document& document) {
  std::vector<std::string> texts;
  if (const std::string rails = software_rails(document); !rails.empty()) {
    texts.push_back(fmt::format("verbs: software RDMA, not comparable with hardware ({}).", rails));
  }
  for (const Direction direction : kDirections) {
    add_goodput(document, direction, texts);
  }
  add_latency(document, texts);
  return texts;
}

}  // namespace netbench::report
