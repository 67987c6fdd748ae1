#include "bench/measure/row_notes.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace netbench::measure {

namespace {

constexpr std::string_view kZerocopy = "zerocopy: ";
constexpr std::string_view kPacing = "pacing: ";
constexpr double kBehindShown = 0.01;

struct Totals {
  double completions = 0;
  double copied = 0;
  double behind_ns = 0;
  double sending_ns = 0;  // of the ends that pace
};

double counter(const EndRecord& end, const char* name) {
  const auto found = end.counters.find(name);
  return found == end.counters.end() ? 0 : found->second;
}

Totals totals_of(const Measurement& row) {
  Totals totals;
  for (const Round& round : row.rounds) {
    for (const EndRecord* end : {&round.initiator, &round.responder}) {
      totals.completions += counter(*end, "zerocopy.completions");
      totals.copied += counter(*end, "zerocopy.copied");
      totals.behind_ns += counter(*end, "udp.pacing_lost_ns");
      totals.sending_ns +=
          end->counters.contains("udp.pacing_lost_ns") ? static_cast<double>(round.duration_ns) : 0;
    }
  }
  return totals;
}

}  // namespace

void note_counters(Measurement& row) {
  std::erase_if(row.tunables.notes, [](const std::string& note) {
    return note.starts_with(kZerocopy) || note.starts_with(kPacing);
  });
  const Totals totals = totals_of(row);
  if (totals.completions > 0) {
    row.tunables.notes.push_back(fmt::format(
        "{}the kernel copied {:.0f} % of the sends all the same ({:.0f} of {:.0f})", kZerocopy,
        100 * totals.copied / totals.completions, totals.copied, totals.completions));
  }
  if (totals.sending_ns > 0 && totals.behind_ns >= kBehindShown * totals.sending_ns) {
    row.tunables.notes.push_back(fmt::format(
        "{}the sender fell behind its rate for {:.0f} % of the time, and did not catch up: its "
        "host is busy or too slow",
        kPacing, 100 * totals.behind_ns / totals.sending_ns));
  }
}

}  // namespace netbench::measure
