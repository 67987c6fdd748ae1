#include "bench/cli/diagnose_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/core/clock.hpp"
#include "bench/measure/intervention.hpp"
#include "bench/plan/levels.hpp"
#include "report/diagnose/diagnose.hpp"
#include "report/render/format.hpp"

namespace netbench::cli {

namespace {

Intervention record_of(const report::Experiment& experiment) {
  Intervention record;
  record.id = experiment.id;
  record.row = experiment.row;
  record.change = experiment.change;
  record.metric = "goodput_bps";
  return record;
}

/// The value of a tunable as the transport's table has it.
Result<plan::Level> level_of(const std::string& full_name, const Value& value,
                             const plan::TransportSpec& spec, const std::string& workload) {
  const std::string prefix = spec.name + ".";
  const plan::Tunable* tunable =
      full_name.starts_with(prefix) ? spec.find_tunable(full_name.substr(prefix.size())) : nullptr;
  if (tunable == nullptr || !tunable->applies_to(workload)) {
    return fail("no-tunable", fmt::format("{} has no {} for {}", spec.name, full_name, workload));
  }
  return plan::parse_level(*tunable, report::value_text(value));
}

class Experimenter {
 public:
  Experimenter(Document& document, const ExperimentRun& run)
      : document_(document), run_(run), ends_ns_(monotonic_ns() + run.budget_ns) {}

  [[nodiscard]] Status run() {
    while (true) {
      const std::vector<report::Experiment> wanted = report::diagnose(document_).experiments;
      const std::size_t before = document_.interventions.size();
      const std::vector<measure::Trial> trials = trials_of(wanted);
      measure::TrialRun tried = measure::run_trials(trials, run_.context, options());
      std::ranges::move(tried.interventions, std::back_inserter(document_.interventions));
      if (!tried.outcome || document_.interventions.size() == before) {
        return tried.outcome;
      }
    }
  }

 private:
  [[nodiscard]] measure::TrialOptions options() const {
    measure::TrialOptions options;
    options.budget_ns = ends_ns_ - monotonic_ns();
    options.seed = run_.plan.seed + document_.interventions.size();
    options.on_pair = [this, pairs = options.pairs](const Intervention& trial, std::uint32_t pair) {
      run_.say(
          fmt::format("what limits it? trying {} ({} of {}) …", trial.change, pair + 1, pairs));
    };
    return options;
  }

  /// Those that can be tried; the others are noted in the document.
  [[nodiscard]] std::vector<measure::Trial> trials_of(
      const std::vector<report::Experiment>& wanted) {
    std::vector<measure::Trial> trials;
    for (const report::Experiment& experiment : wanted) {
      auto trial = trial_of(experiment);
      if (trial) {
        trials.push_back(std::move(*trial));
      } else {
        Intervention record = record_of(experiment);
        record.note = trial.error().message;
        document_.interventions.push_back(std::move(record));
      }
    }
    return trials;
  }

  [[nodiscard]] Result<measure::Trial> trial_of(const report::Experiment& experiment) const {
    const auto point = std::ranges::find(run_.plan.points, experiment.row, &plan::TestPoint::id);
    if (point == run_.plan.points.end()) {
      return fail("no-point", "the row is not in this run's plan");
    }
    if (point->mtu_bytes != 0 && point->mtu_bytes != run_.interface_mtu_bytes) {
      return fail("no-mtu",
                  fmt::format("the MTU of {} is not in effect any more", point->mtu_bytes));
    }
    measure::Trial trial{record_of(experiment), *point, *point};
    if (point->pattern == plan::Pattern::ping_pong) {
      trial.record.metric = "rtt_p50_ns";
    }
    return change(trial, experiment).map([&] { return trial; });
  }

  [[nodiscard]] Status change(measure::Trial& trial, const report::Experiment& experiment) const {
    plan::TestPoint& point = trial.changed;
    const auto spec = std::ranges::find(run_.specs, point.transport, &plan::TransportSpec::name);
    if (spec == run_.specs.end()) {
      return fail("no-transport", fmt::format("{} is not here", point.transport));
    }
    if (experiment.size_bytes > 0) {
      point.message_bytes = experiment.size_bytes;
    }
    for (const auto& [name, value] : experiment.tunables) {
      const auto level = level_of(name, value, *spec, point.workload);
      if (!level) {
        return tl::unexpected(level.error());
      }
      point.tunables[name.substr(spec->name.size() + 1)] = *level;
    }
    return {};
  }

  Document& document_;
  const ExperimentRun& run_;
  std::int64_t ends_ns_;
};

}  // namespace

Status try_experiments(Document& document, const ExperimentRun& run) {
  return Experimenter(document, run).run();
}

}  // namespace netbench::cli
