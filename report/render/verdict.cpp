#include "report/render/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "report/render/table.hpp"
#include "report/render/verdict_evidence.hpp"
#include "report/render/verdict_rank.hpp"
#include "report/render/verdict_retest.hpp"
#include "report/render/verdict_words.hpp"

namespace netbench::report {

namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kEvidence = 6;
constexpr std::size_t kTried = 3;
constexpr std::size_t kOthers = 5;
constexpr std::size_t kNames = 8;
constexpr std::size_t kMissing = 3;
constexpr std::size_t kLabelWidth = 11;
constexpr int kLeastRoom = 20;
constexpr int kHanging = 2;

constexpr std::array<std::string_view, 3> kSeverities{"info", "warning", "problem"};
constexpr std::array<std::string_view, 4> kConfidences{"confirmed", "likely", "possible",
                                                       "excluded"};

template <std::size_t N, class E>
std::string_view name_of(const std::array<std::string_view, N>& names, E value) {
  return names.at(static_cast<std::size_t>(value));
}

std::string label_of(const Finding& finding) {
  return finding.class_id.empty() ? finding.id : fmt::format("{} {}", finding.class_id, finding.id);
}

/// Whether an intervention is part of the evidence.
bool was_tried(const Finding& finding) {
  return std::ranges::any_of(finding.evidence, [](const std::string& pointer) {
    return pointer.starts_with("/interventions/");
  });
}

/// Whether both hosts told something about themselves.
bool both_were_seen(const Document& document) {
  return std::ranges::count_if(document.hosts,
                               [](const auto& host) { return !host.second.facts.empty(); }) > 1;
}

/// Why a finding is as sure as it is.
std::string_view basis_of(const Document& document, const Finding& finding) {
  if (finding.confidence == Confidence::confirmed && !was_tried(finding)) {
    return "it was seen directly";
  }
  if (finding.confidence == Confidence::likely && !both_were_seen(document)) {
    return "the evidence fits it, and nothing speaks against it";
  }
  constexpr std::array<std::string_view, 4> kBases{
      "what was changed moved the result as this cause predicts",
      "the evidence of both hosts fits it, and nothing speaks against it",
      "it fits, but so may something else", "what was changed speaks against it"};
  return name_of(kBases, finding.confidence);
}

class Screen {
 public:
  Screen(const Document& document, const VerdictOptions& options)
      : document_(document), options_(options), verdict_(document.findings.front()) {}

  /// All that each finding above level info says, nothing left out.
  [[nodiscard]] std::string whole_findings() {
    for (const Finding& finding : document_.findings) {
      if (finding.severity != Severity::info && finding.confidence != Confidence::excluded) {
        whole(finding);
      }
    }
    return std::move(text_);
  }

  [[nodiscard]] std::string text() {
    paragraph("Verdict", verdict_.cause, Tone::strong);
    paragraph("", how_sure(verdict_), Tone::plain);
    section("Evidence", evidence(), kEvidence);
    section("Tried", tried(), kTried);
    names("Ruled out", ruled_out(), kNames, ", ");
    names("Unknown", verdict_.not_evaluated, kMissing, "; ");
    commands(names_a_cause(verdict_) ? "Fix" : "Next", fix(verdict_));
    if (names_a_cause(verdict_)) {
      const std::string command = printable(retest_command(document_, verdict_));
      commands("Retest", {continued(command, room())});
    }
    commands("Also", others());
    return std::move(text_);
  }

 private:
  void whole(const Finding& finding) {
    text_ += "\n";
    paragraph("Finding", finding.cause, Tone::strong);
    paragraph("", how_sure(finding), Tone::plain);
    Lines evidence;
    for (const std::string& line : evidence_lines(document_, ranked_evidence(document_, finding))) {
      evidence.push_back(wrapped(line, room(), kHanging));
    }
    commands("Evidence", evidence);
    commands(names_a_cause(finding) ? "Fix" : "Next", fix(finding));
  }

  /// Else it says that all is well, or that nobody can tell; its remedy is what to do next.
  [[nodiscard]] static bool names_a_cause(const Finding& finding) {
    return !finding.id.starts_with("healthy.") && !finding.id.starts_with("unknown.");
  }

  [[nodiscard]] std::string how_sure(const Finding& finding) const {
    const std::string_view basis = names_a_cause(finding) ? basis_of(document_, finding) : "";
    return fmt::format("{}, {}{}{} ({})", name_of(kSeverities, finding.severity),
                       name_of(kConfidences, finding.confidence), basis.empty() ? "" : ": ", basis,
                       label_of(finding));
  }

  /// Columns behind the labels.
  [[nodiscard]] int room() const {
    return std::max(options_.width - static_cast<int>(kLabelWidth), kLeastRoom);
  }

  /// Lines of text behind a label; `tone` is theirs.
  void block(std::string_view label, const std::string& lines, Tone tone = Tone::plain) {
    std::string margin = toned(std::string(label), Tone::strong, options_.color) +
                         std::string(kLabelWidth - std::min(label.size(), kLabelWidth), ' ');
    for (std::size_t at = 0; at <= lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      text_ += margin + toned(lines.substr(at, end - at), tone, options_.color) + "\n";
      margin.assign(kLabelWidth, ' ');
      at = end + 1;
    }
  }

  void paragraph(std::string_view label, const std::string& line, Tone tone) {
    block(label, wrapped(line, room(), 0), tone);
  }

  /// One line each; those beyond `most` are counted.
  void section(std::string_view label, const Lines& lines, std::size_t most) {
    const std::size_t shown = lines.size() <= most ? lines.size() : most - 1;
    Lines texts;
    for (std::size_t i = 0; i < shown; ++i) {
      texts.push_back(shortened(lines[i], room()));
    }
    if (shown < lines.size()) {
      texts.push_back(fmt::format("and {} more", lines.size() - shown));
    }
    commands(label, texts);
  }

  /// To be copied: neither wrapped nor shortened.
  void commands(std::string_view label, const Lines& lines) {
    if (!lines.empty()) {
      block(label, fmt::format("{}", fmt::join(lines, "\n")));
    }
  }

  /// All in one paragraph.
  void names(std::string_view label, const Lines& items, std::size_t most,
             std::string_view separator) {
    if (items.empty()) {
      return;
    }
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), most));
    std::string line = fmt::format("{}", fmt::join(items.begin(), end, separator));
    if (items.size() > most) {
      line += fmt::format("{}and {} more (--explain)", separator, items.size() - most);
    }
    paragraph(label, line, Tone::plain);
  }

  /// Interventions stand under "Tried".
  [[nodiscard]] Lines evidence() const {
    Lines pointers = ranked_evidence(document_, verdict_);
    std::erase_if(pointers, [](const std::string& pointer) {
      return pointer.starts_with("/interventions/");
    });
    return evidence_lines(document_, pointers);
  }

  [[nodiscard]] Lines tried() const {
    Lines lines;
    for (const Intervention& intervention : document_.interventions) {
      if (intervention.n_pairs > 0) {
        lines.push_back(intervention_text(intervention));
      }
    }
    return lines;
  }

  /// What interventions excluded, then what the evidence did, by name.
  [[nodiscard]] Lines ruled_out() const {
    Lines lines;
    const auto add = [&](const std::string& name) {
      if (std::ranges::find(lines, name) == lines.end()) {
        lines.push_back(name);
      }
    };
    for (const Finding& finding : document_.findings) {
      if (finding.confidence == Confidence::excluded) {
        add(label_of(finding));
      }
    }
    for (const std::string& reason : verdict_.ruled_out) {
      add(reason.substr(0, reason.find(": ")));
    }
    return lines;
  }

  [[nodiscard]] Lines fix(const Finding& finding) const {
    constexpr std::string_view kPlaceholder = "--peer HOST";
    Lines lines = finding.remedy;
    for (std::string& line : lines) {
      line = printable(line);
      const std::size_t at = line.find(kPlaceholder);
      if (at != std::string::npos) {
        line.replace(at, kPlaceholder.size(), printable("--peer " + peer_of(document_)));
      }
    }
    return lines;
  }

  /// "warning, likely: the cause (M01 mtu.small)".
  [[nodiscard]] static std::string sentence(const Finding& finding) {
    return fmt::format("{}, {}: {} ({})", name_of(kSeverities, finding.severity),
                       name_of(kConfidences, finding.confidence), finding.cause, label_of(finding));
  }

  /// Of level info one line; else the whole sentence and the first command of its remedy.
  [[nodiscard]] std::string other(const Finding& finding) const {
    if (finding.severity == Severity::info) {
      return shortened(sentence(finding), room());
    }
    const Lines remedy = fix(finding);
    return wrapped(sentence(finding), room(), kHanging) +
           (remedy.empty() ? "" : "\n  fix: " + remedy.front());
  }

  [[nodiscard]] Lines others() const {
    Lines lines;
    std::size_t more = 0;
    for (const Finding& finding : document_.findings) {
      if (&finding == &verdict_ || finding.confidence == Confidence::excluded) {
        continue;
      }
      if (lines.size() + 1 < kOthers) {
        lines.push_back(other(finding));
      } else {
        ++more;
      }
    }
    if (more > 0) {
      lines.push_back(fmt::format("and {} more", more));
    }
    return lines;
  }

  const Document& document_;
  const VerdictOptions& options_;
  const Finding& verdict_;
  std::string text_;
};

}  // namespace

std::string verdict_text(const Document& document, const VerdictOptions& options) {
  return document.findings.empty() ? std::string() : Screen(document, options).text();
}

std::string findings_text(const Document& document, const VerdictOptions& options) {
  return document.findings.empty() ? std::string() : Screen(document, options).whole_findings();
}

}  // namespace netbench::report
