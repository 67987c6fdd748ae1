#include "report/render/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>

#include "report/render/format.hpp"

namespace netbench::report {

namespace {

constexpr std::size_t kShownRows = 3;
constexpr double kShownDisagreement = 0.01;
constexpr double kShownHarnessShare = 0.02;

using Texts = std::vector<std::string>;
using Rows = std::vector<const Measurement*>;

struct FlagText {
  std::string_view flag;
  std::string_view text;
};
constexpr std::array<FlagText, 9> kFlagTexts{{
    {"drift", "the rate or latency drifted during a round: something warms up, fills or throttles"},
    {"emulated_mtu",
     "the MTU was emulated by the segment size (MSS); the interfaces kept their own"},
    {"failed_rounds", "some rounds failed; the numbers are of the others"},
    {"foreign_load",
     "other programs used the CPUs or the interface meanwhile; run again on quiet hosts"},
    {"multimodal",
     "round trips fall into separate groups (C-states or two paths are typical); the median hides "
     "that"},
    {"no_steady_state", "no steady state was reached; the warm-up was cut at its limit"},
    {"steal", "the hypervisor took CPU time away"},
    {"too_short", "too little was measured after the warm-up"},
    {"unclean_end", "a connection ended badly; the round's last reading may be incomplete"},
}};

/// Ids of up to three rows: "a, b, c and 4 more".
std::string ids_of(const Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kShownRows); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", rows[i]->id);
  }
  return rows.size() > kShownRows ? fmt::format("{} and {} more", text, rows.size() - kShownRows)
                                  : text;
}

Rows rows_where(const Document& document, const std::function<bool(const Measurement&)>& holds) {
  Rows rows;
  for (const Measurement& row : document.measurements) {
    if (holds(row)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

/// Rows by a text they have in common, in the order of its first appearance.
class Groups {
 public:
  void add(const std::string& text, const Measurement& row) {
    const auto [place, is_new] = rows_.try_emplace(text);
    if (is_new) {
      order_.push_back(text);
    }
    place->second.push_back(&row);
  }
  void append_to(Texts& notes, std::string_view pattern) const {
    for (const std::string& text : order_) {
      notes.push_back(fmt::format(fmt::runtime(pattern), text, ids_of(rows_.at(text))));
    }
  }

 private:
  std::map<std::string, Rows> rows_;
  Texts order_;
};

void add_failures(const Document& document, Texts& notes) {
  constexpr std::array<std::string_view, 3> kVerbs{"had errors", "failed", "skipped"};
  Groups groups;
  for (const Measurement& row : document.measurements) {
    if (row.error) {
      groups.add(fmt::format("{}: [{}] {}{}{}", kVerbs.at(static_cast<std::size_t>(row.status)),
                             row.error->slug, row.error->message,
                             row.error->remedy.empty() ? "" : ". ", row.error->remedy),
                 row);
    }
  }
  groups.append_to(notes, "{0} (rows: {1})");
}

void add_tunable_notes(const Document& document, Texts& notes) {
  Groups groups;
  for (const Measurement& row : document.measurements) {
    for (const std::string& note : row.tunables.notes) {
      groups.add(note, row);
    }
  }
  groups.append_to(notes, "{0} (rows: {1})");
}

void add_flags(const Document& document, Texts& notes) {
  for (const FlagText& flag : kFlagTexts) {
    const Rows rows = rows_where(document, [&](const Measurement& row) {
      return row.flags.contains(std::string(flag.flag));
    });
    if (!rows.empty()) {
      notes.push_back(fmt::format("{}: {} (rows: {})", flag.flag, flag.text, ids_of(rows)));
    }
  }
}

void add_disagreement(const Document& document, Texts& notes) {
  for (const Measurement& row : document.measurements) {
    const double share = finite(row.summary.wire_disagreement).value_or(0);
    if (std::abs(share) > kShownDisagreement) {
      notes.push_back(fmt::format(
          "{}: payload and interface counters disagree by {:.1f} %: other traffic on the "
          "interface, or a counter that is wrong",
          row.id, share * 100));
    }
  }
}

/// Time a message takes in a row, in ns.
std::optional<double> message_time_ns(const Summary& summary) {
  if (const auto rate = finite(summary.messages_per_s); rate && *rate > 0) {
    return 1e9 / *rate;
  }
  return finite(summary.rtt_p50_ns);
}

void add_harness_cost(const Document& document, Texts& notes) {
  const auto cost = finite(document.run.harness_ns_per_message);
  if (!cost) {
    return;
  }
  for (const Measurement& row : document.measurements) {
    const auto time = message_time_ns(row.summary);
    if (time && *cost > kShownHarnessShare * *time) {
      notes.push_back(
          fmt::format("{}: the harness itself takes {:.1f} ns of the {:.0f} ns a "
                      "message takes ({:.1f} %)",
                      row.id, *cost, *time, *cost / *time * 100));
    }
  }
}

std::string mtu_text(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{} B", bytes) : std::string("unknown");
}

void add_path(const Document& document, Texts& notes) {
  const PathMtu& path = document.run.path_mtu;
  if (path.forward_bytes > 0 || path.reverse_bytes > 0 || path.black_hole) {
    notes.push_back(fmt::format(
        "{}: largest IP packet that passes: {} forward, {} reverse ({}){}{}",
        path.black_hole ? "path MTU black hole" : "path MTU", mtu_text(path.forward_bytes),
        mtu_text(path.reverse_bytes), path.method, path.note.empty() ? "" : ": ", path.note));
  } else if (!path.note.empty()) {
    notes.push_back(fmt::format("path MTU: {}", path.note));
  }
}

void add_ceilings(const Document& document, Texts& notes) {
  Groups unknown;
  for (const Measurement& row : document.measurements) {
    if (finite(row.summary.goodput_bps) && !finite(row.summary.ceiling_bps) &&
        !row.summary.ceiling_note.empty()) {
      unknown.add(row.summary.ceiling_note, row);
    }
  }
  unknown.append_to(notes, "limit of the wire: {0} (rows: {1})");
}

void add_run(const Document& document, Texts& notes) {
  if (document.run.same_machine) {
    notes.emplace_back("both ends are the same machine: nothing crossed a wire");
  }
  if (!document.run.authenticated && !document.hosts.empty()) {
    notes.emplace_back("the control channel was not authenticated (--insecure)");
  }
}

}  // namespace

std::vector<std::string> notes_of(const Document& document) {
  Texts notes;
  for (const auto add : {add_failures, add_tunable_notes, add_flags, add_disagreement,
                         add_harness_cost, add_path, add_ceilings, add_run}) {
    add(document, notes);
  }
  return notes;
}

std::vector<std::string> finding_texts(const Document& document) {
  constexpr std::array<std::string_view, 3> kSeverities{"info", "warning", "problem"};
  constexpr std::array<std::string_view, 4> kConfidences{"confirmed", "likely", "possible",
                                                         "excluded"};
  Texts texts;
  for (const Finding& finding : document.findings) {
    texts.push_back(fmt::format(
        "{} {} ({}): {}{}{}", kSeverities.at(static_cast<std::size_t>(finding.severity)),
        finding.id, kConfidences.at(static_cast<std::size_t>(finding.confidence)), finding.cause,
        finding.remedy.empty() ? "" : " Do: ", fmt::join(finding.remedy, "; ")));
  }
  return texts;
}

}  // namespace netbench::report
