#include "report/diagnose/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/diagnose/experiments.hpp"

namespace netbench::report {

namespace {

/// Shares of a thread's time, or of all CPUs' time, above which a host was not quiet: two runs of
/// the same stream on an idle host stay below (bench-peers' A/A pairs).
constexpr double kWaitShare = 0.05;
constexpr double kStealShare = 0.05;
constexpr double kForeignShare = 0.20;

bool is_fired_limit(const Judged::Answer& answer) {
  return answer.verdict.outcome == Outcome::fires && answer.rule->kind == Kind::limit;
}

/// What the experiments said of one rule.
struct Trial {
  bool moved = false;
  bool contradicted = false;
  std::string text;
};

Trial try_predictions(Look& look, const Rule& rule) {
  Trial trial;
  for (const Prediction& prediction : rule.predictions) {
    const Intervention* moved = look.moved(prediction.experiment);
    const Shown outcome = shown(prediction, moved);
    trial.moved = trial.moved || outcome == Shown::moves;
    trial.contradicted = trial.contradicted || outcome == Shown::contradicts;
    if (outcome == Shown::moves || outcome == Shown::contradicts) {
      trial.text += fmt::format("; {}: x{:.2f} ({:.2f} to {:.2f}, {} pairs){}", moved->change,
                                moved->ratio, moved->ratio_low, moved->ratio_high, moved->n_pairs,
                                outcome == Shown::moves ? "" : ", against it");
    }
  }
  return trial;
}

/// The largest share of their time that threads of an end waited for a CPU; nothing where the
/// kernel did not say.
std::optional<double> wait_share(Look& look, End end) {
  std::optional<double> largest;
  for (const auto& [wait, elapsed] :
       {std::pair("send.wait_s", "send.elapsed_s"), std::pair("recv.wait_s", "recv.elapsed_s")}) {
    if (const auto share = look.ratio(end, wait, elapsed)) {
      largest = std::max(*share, largest.value_or(0));
    }
  }
  return largest;
}

/// What was in the way at an end. Other programs matter as far as our threads waited for them;
/// their CPU time alone counts where the waiting is not known. Several threads of ours may have
/// waited for each other.
std::optional<std::string> busy_text(Look& look, End end) {
  const auto waited = wait_share(look, end);
  const Look::Taken taken = look.taken_cpu(end);
  const bool alone = look.setting(end, "tcp.streams").value_or(1) <= 1;
  if (waited.value_or(0) > kWaitShare && (alone || taken.by_other_programs > kWaitShare)) {
    return fmt::format("threads on {} waited for a CPU {:.0f} % of the time", look.host_name(end),
                       100 * *waited);
  }
  if (taken.by_hypervisor > kStealShare) {
    return fmt::format("the hypervisor took {:.0f} % of a CPU from {}", 100 * taken.by_hypervisor,
                       look.host_name(end));
  }
  if (!waited && taken.by_other_programs > kForeignShare) {
    return fmt::format("other programs used {:.0f} % of a CPU on {}", 100 * taken.by_other_programs,
                       look.host_name(end));
  }
  return std::nullopt;
}

Confidence lowered(Confidence confidence) {
  return confidence == Confidence::likely ? Confidence::possible : confidence;
}

}  // namespace

Judged judge(const Document& document, Scope scope, const Measurement* row) {
  Judged judged{scope, row, {}, {}};
  if (scope == Scope::stream || scope == Scope::datagrams || scope == Scope::verbs_stream) {
    judged.bounds = limits_of(document, *row);
  }
  for (const RuleTable& family : all_rules()) {
    for (const Rule& rule : family) {
      if (rule.scope == scope) {
        Look look(document, row, judged.bounds);
        Verdict verdict = rule.judge(look);
        judged.answers.push_back({&rule, std::move(verdict), look.evidence(), look.missing()});
      }
    }
  }
  return judged;
}

void weigh_interventions(const Document& document, Judged& judged) {
  std::vector<std::pair<Judged::Answer*, Trial>> trials;
  for (Judged::Answer& answer : judged.answers) {
    if (is_fired_limit(answer)) {
      Look look(document, judged.row, judged.bounds);
      trials.emplace_back(&answer, try_predictions(look, *answer.rule));
      answer.verdict.why += trials.back().second.text;
      answer.evidence.insert(answer.evidence.end(), look.evidence().begin(), look.evidence().end());
    }
  }
  const auto stands = std::ranges::count_if(
      trials, [](const auto& one) { return one.second.moved && !one.second.contradicted; });
  for (auto& [answer, trial] : trials) {
    if (trial.contradicted) {
      answer->verdict.confidence = Confidence::excluded;
    } else if (trial.moved && stands == 1 && answer->verdict.confidence == Confidence::likely) {
      answer->verdict.confidence = Confidence::confirmed;
    }
  }
}

std::optional<std::string> doubt_a_busy_machine(const Document& document, Judged& judged) {
  if (judged.row == nullptr) {
    return std::nullopt;
  }
  std::optional<std::string> busy;
  for (const End end : kEnds) {
    Look look(document, judged.row, judged.bounds);
    if (!busy) {
      busy = busy_text(look, end);
    }
  }
  if (busy) {
    for (Judged::Answer& answer : judged.answers) {
      if (is_fired_limit(answer) && !answer.rule->class_id.starts_with('K')) {
        answer.verdict.confidence = lowered(answer.verdict.confidence);
        answer.verdict.why += "; less sure, since " + *busy;
      }
    }
  }
  return busy;
}

}  // namespace netbench::report
