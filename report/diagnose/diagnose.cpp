#include "report/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/diagnose/experiments.hpp"
#include "report/diagnose/judge.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/subjects.hpp"

namespace netbench::report {

namespace {

/// A bound nearer than this is a hypothesis.
constexpr double kNear = 0.6;
/// The class of a full wire: nothing more is to be found out then.
constexpr std::string_view kFullWire = "L01";
/// A known wire that is used less than this is worth a question even where no rule fires.
constexpr double kFullEnough = 0.85;

Severity severity_of(const Judged::Answer& answer) {
  const Severity own = answer.verdict.severity.value_or(answer.rule->severity);
  return answer.rule->kind == Kind::note ? Severity::info : own;
}

Finding finding_of(const Judged::Answer& answer) {
  Finding finding;
  finding.id = answer.rule->id;
  finding.class_id = answer.rule->class_id;
  finding.severity = severity_of(answer);
  finding.confidence = answer.verdict.confidence;
  finding.cause = answer.verdict.cause;
  finding.evidence = answer.evidence;
  finding.remedy = answer.verdict.remedy;
  finding.not_evaluated = answer.missing;
  return finding;
}

/// A finding and how much it explains, for the order.
struct Ranked {
  Finding finding;
  double nearness = 0;
};

template <class T>
void merge_into(std::vector<T>& list, const std::vector<T>& more) {
  for (const T& one : more) {
    if (std::ranges::find(list, one) == list.end()) {
      list.push_back(one);
    }
  }
}

/// The same rule on another row: the surer and nearer answer leads.
void merge(Ranked& into, Ranked other) {
  const auto key = [](const Ranked& one) {
    return std::tuple(-static_cast<int>(one.finding.confidence), one.nearness);
  };
  if (key(into) < key(other)) {
    std::swap(into, other);
  }
  merge_into(into.finding.evidence, other.finding.evidence);
  merge_into(into.finding.remedy, other.finding.remedy);
  merge_into(into.finding.not_evaluated, other.finding.not_evaluated);
}

/// What explains most of the row goes before what explains little of it, however sure that is.
bool leads(const Ranked& one, const Ranked& other) {
  const auto key = [](const Ranked& ranked) {
    const bool excluded = ranked.finding.confidence == Confidence::excluded;
    return std::tuple(excluded, -static_cast<int>(ranked.finding.severity), ranked.nearness < kNear,
                      static_cast<int>(ranked.finding.confidence), -ranked.nearness);
  };
  return key(one) < key(other);
}

std::string ruled_out_text(const Judged::Answer& answer) {
  return fmt::format("{} {}: {}", answer.rule->class_id, answer.rule->id, answer.verdict.why);
}

class Engine {
 public:
  explicit Engine(const Document& document) : document_(document) {}

  Diagnosis run() {
    if (!connected()) {
      take(judge(document_, Scope::connection, nullptr));
    }
    take(judge(document_, Scope::hosts, nullptr));
    for (const Measurement* row : subjects_of(document_)) {
      Judged judged = judge(document_, *scope_of(*row), row);
      const auto busy = doubt_a_busy_machine(document_, judged);
      weigh_interventions(document_, judged);
      if (busy) {
        note_busy(*busy, *row);
      }
      take(std::move(judged));
    }
    for (const Measurement* row : verbs_failures_of(document_)) {
      take(judge(document_, Scope::verbs_failure, row));
    }
    finish();
    return std::move(diagnosis_);
  }

 private:
  [[nodiscard]] bool connected() const {
    return std::ranges::any_of(document_.measurements,
                               [](const Measurement& row) { return !row.rounds.empty(); }) ||
           (!document_.error && !document_.measurements.empty());
  }

  void take(Judged judged) {
    const std::string row = judged.row == nullptr ? "" : judged.row->id;
    std::vector<Hypothesis> open;
    std::vector<Hypothesis> mild;  // limits of level info: tried where nothing worse is open
    for (const Judged::Answer& answer : judged.answers) {
      diagnosis_.trace.push_back(
          {std::string(answer.rule->id), std::string(answer.rule->class_id), row, answer.verdict});
      if (answer.verdict.outcome == Outcome::fires) {
        add(finding_of(answer), answer.verdict.nearness);
        if (answer.rule->kind == Kind::limit && answer.verdict.confidence != Confidence::excluded) {
          (severity_of(answer) == Severity::info ? mild : open)
              .push_back({answer.rule, &answer.verdict});
        }
      } else if (answer.verdict.outcome == Outcome::silent && answer.rule->kind == Kind::limit) {
        ruled_out_.push_back(ruled_out_text(answer));
      }
    }
    if (judged.row != nullptr) {
      want_experiments(open.empty() ? worth_trying(std::move(mild)) : open, *judged.row);
    }
    if (!judged.bounds.empty()) {
      diagnosis_.bounds.push_back({row, std::move(judged.bounds)});
    }
  }

  void add(Finding finding, double nearness) {
    Ranked ranked{std::move(finding), nearness};
    const auto same = std::ranges::find_if(
        ranked_, [&](const Ranked& one) { return one.finding.id == ranked.finding.id; });
    if (same == ranked_.end()) {
      ranked_.push_back(std::move(ranked));
    } else {
      merge(*same, std::move(ranked));
    }
  }

  /// Mild limits that stand first, unless it is the wire that is full.
  [[nodiscard]] static std::vector<Hypothesis> worth_trying(std::vector<Hypothesis> mild) {
    std::ranges::stable_sort(mild, std::ranges::greater{},
                             [](const Hypothesis& one) { return one.verdict->nearness; });
    const bool full = !mild.empty() && mild.front().rule->class_id == kFullWire;
    const bool near = !mild.empty() && mild.front().verdict->nearness >= kNear;
    return full || !near ? std::vector<Hypothesis>{} : std::move(mild);
  }

  void want_experiments(std::span<const Hypothesis> open, const Measurement& row) {
    const bool settled = std::ranges::any_of(open, [](const Hypothesis& one) {
      return one.verdict->confidence == Confidence::confirmed;
    });
    if (open.empty() || settled) {
      return;
    }
    for (Experiment& experiment : deciding(open, row, document_)) {
      const bool done = std::ranges::any_of(document_.interventions, [&](const Intervention& one) {
        return one.id == experiment.id && one.row == experiment.row;
      });
      if (!done) {
        diagnosis_.experiments.push_back(std::move(experiment));
      }
    }
  }

  void note_busy(const std::string& what, const Measurement& row) {
    Finding finding;
    finding.id = "host.not-quiet";
    finding.severity = Severity::info;
    finding.confidence = Confidence::likely;
    finding.cause = fmt::format(
        "The machine was busy with other work: {}. Verdicts are less sure, "
        "and the rates are those of a busy machine.",
        what);
    finding.evidence = {fmt::format("/measurements/{}", &row - document_.measurements.data())};
    add(std::move(finding), 0);
  }

  void finish() {
    std::ranges::stable_sort(ranked_, leads);
    if (ranked_.empty() || ranked_.front().finding.severity == Severity::info ||
        ranked_.front().finding.confidence == Confidence::excluded) {
      ranked_.insert(ranked_.begin(), {verdict_without_a_cause(), 0});
    }
    for (Ranked& ranked : ranked_) {
      diagnosis_.findings.push_back(std::move(ranked.finding));
    }
    diagnosis_.findings.front().ruled_out = ruled_out_;
  }

  /// The row whose verdict counts: the stream that is furthest from its wire, else any subject.
  [[nodiscard]] const Measurement* weakest() const {
    const Measurement* found = nullptr;
    double least = 2;
    for (const Measurement* row : subjects_of(document_)) {
      const auto& summary = row->summary;
      Look look(document_, row, {});
      if (row->transport == "verbs" && is_software(look)) {
        continue;  // a processor's limit, which the wire says nothing about
      }
      if (summary.goodput_bps && summary.ceiling_bps && *summary.ceiling_bps > 0 &&
          *summary.goodput_bps / *summary.ceiling_bps < least) {
        least = *summary.goodput_bps / *summary.ceiling_bps;
        found = row;
      }
    }
    return found;
  }

  [[nodiscard]] Finding verdict_without_a_cause() const {
    if (document_.measurements.empty()) {
      return document_.error || !shows_a_host() ? cannot_tell() : nothing_wrong();
    }
    const Measurement* row = weakest();
    if (row == nullptr) {
      return subjects_of(document_).empty() ? cannot_tell() : unknown_wire();
    }
    const double share = *row->summary.goodput_bps / *row->summary.ceiling_bps;
    return share >= kFullEnough ? full_wire(share, *row) : headroom(share, *row);
  }

  /// Whether at least one host tells what it runs and anything about an interface.
  [[nodiscard]] bool shows_a_host() const {
    return std::ranges::any_of(document_.hosts, [](const auto& entry) {
      const HostInfo& host = entry.second;
      const Fact* kernel = find_fact(host, "kernel.release");
      return kernel != nullptr && kernel->value != Value{} &&
             std::ranges::any_of(host.facts, [](const Fact& fact) {
               return fact.key.starts_with("if.") && fact.value != Value{};
             });
    });
  }

  [[nodiscard]] static Finding verdict(std::string id, Severity severity, Confidence confidence,
                                       std::string cause) {
    Finding finding;
    finding.id = std::move(id);
    finding.severity = severity;
    finding.confidence = confidence;
    finding.cause = std::move(cause);
    return finding;
  }

  [[nodiscard]] static Finding cannot_tell() {
    Finding finding = verdict(std::string(kTooLittle), Severity::info, Confidence::possible,
                              "Cannot tell: the document has too little to go by.");
    finding.remedy = {"netbench doctor --peer HOST", "netbench pair --peer HOST"};
    return finding;
  }

  [[nodiscard]] static Finding nothing_wrong() {
    return verdict("healthy.facts", Severity::info, Confidence::likely,
                   "Nothing is wrong with what the hosts say about themselves; no traffic was "
                   "measured.");
  }

  [[nodiscard]] Finding unknown_wire() const {
    Finding finding = verdict("healthy.wire-unknown", Severity::info, Confidence::possible,
                              "Cannot tell whether this could be faster: no fault was found, and "
                              "the speed of the wire is "
                              "not known.");
    finding.remedy = {"netbench pair --peer HOST --link-rate 25G (what the link should do)"};
    return finding;
  }

  [[nodiscard]] Finding full_wire(double share, const Measurement& row) const {
    Finding finding = verdict("healthy.link-limited", Severity::info, Confidence::likely,
                              fmt::format("No bottleneck below the link: {:.1f} % of what the wire "
                                          "can carry at this MTU.",
                                          100 * share));
    finding.evidence = pointers_of(row);
    return finding;
  }

  [[nodiscard]] Finding headroom(double share, const Measurement& row) const {
    Finding finding =
        verdict("unknown.headroom", Severity::warning, Confidence::possible,
                fmt::format("Unknown bottleneck: {:.0f} % of what the wire can carry, {}.",
                            100 * share, nearest_limit(row)));
    finding.evidence = pointers_of(row);
    for (const RankedBounds& ranked : diagnosis_.bounds) {
      for (const Bound& bound : ranked.bounds) {
        if (ranked.row == row.id && !bound.limit_bps) {
          finding.not_evaluated.push_back(bound.name + ": " + bound.arithmetic);
        }
      }
    }
    finding.remedy = {"netbench pair --peer HOST --tcp.streams 1,4 --workload bandwidth",
                      "read the error counters of the switch ports in between"};
    return finding;
  }

  [[nodiscard]] std::string nearest_limit(const Measurement& row) const {
    for (const RankedBounds& ranked : diagnosis_.bounds) {
      for (const Bound& bound : ranked.bounds) {
        if (ranked.row == row.id && bound.limit_bps && bound.id != "wire" &&
            bound.nearness >= kNear) {
          return fmt::format("nearest to the limit of the {} ({})", bound.name, bound.arithmetic);
        }
      }
    }
    return "with headroom below every known limit";
  }

  [[nodiscard]] std::vector<std::string> pointers_of(const Measurement& row) const {
    const auto index = &row - document_.measurements.data();
    return {fmt::format("/measurements/{}/summary/goodput_bps", index),
            fmt::format("/measurements/{}/summary/ceiling_bps", index)};
  }

  const Document& document_;
  Diagnosis diagnosis_;
  std::vector<Ranked> ranked_;
  std::vector<std::string> ruled_out_;
};

}  // namespace

Diagnosis diagnose(const Document& document) { return Engine(document).run(); }

}  // namespace netbench::report
