#include "bench/measure/intervention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "bench/measure/visit.hpp"
#include "bench/plugin/cache.hpp"
#include "bench/stats/rng.hpp"

namespace netbench::measure {

namespace {

constexpr VisitLimits kStreamLimits{500'000'000, 500'000'000, 0.005};
constexpr VisitLimits kLatencyLimits{200'000'000, 400'000'000, 0.01};
/// What a visit takes before one was made: its windows, the warm-up and the connecting.
constexpr std::int64_t kExpectedVisitNs = 800'000'000;
constexpr std::uint32_t kLeastPairs = 2;

/// What a visit of a point said.
struct Reading {
  double value = 0;
  TunableRecord tunables;
};

Reading reading_of(VisitResult result) {
  Reading reading;
  const Round& round = result.round;
  reading.value = round.latency ? round.latency->median_ns : 0.0;
  for (const auto* record : {&round.forward, &round.reverse}) {
    reading.value += *record ? (*record)->goodput_bps : 0.0;
  }
  reading.tunables = std::move(result.tunables);
  return reading;
}

/// A trial under way; over once it has a note.
struct Running {
  const Trial* trial;
  std::vector<double> values;
  std::string note;
};

/// True where the kernel gave the changed point the same values of what was to change: a buffer
/// that is capped on both hosts proves nothing.
bool made_no_difference(const Trial& trial, const TunableRecord& base, const TunableRecord& now) {
  bool compared = false;
  for (const auto& [name, level] : trial.changed.tunables) {
    const auto before = trial.base.tunables.find(name);
    if (before != trial.base.tunables.end() && before->second == level) {
      continue;
    }
    const std::string full = fmt::format("{}.{}", trial.changed.transport, name);
    for (const auto member :
         {&TunableRecord::effective_initiator, &TunableRecord::effective_responder}) {
      const auto old_value = (base.*member).find(full);
      const auto new_value = (now.*member).find(full);
      if (old_value == (base.*member).end() || new_value == (now.*member).end() ||
          old_value->second != new_value->second) {
        return false;
      }
      compared = true;
    }
  }
  return compared && trial.changed.message_bytes == trial.base.message_bytes;
}

class TrialRunner {
 public:
  TrialRunner(const SweepContext& context, const TrialOptions& options)
      : context_(context),
        options_(options),
        transports_(context.plugins),
        rng_(options.seed),
        ends_ns_(options.now_ns() + options.budget_ns) {}

  [[nodiscard]] TrialRun run(std::span<const Trial> trials) {
    std::vector<const Trial*> left;
    std::ranges::transform(trials, std::back_inserter(left), [](const Trial& t) { return &t; });
    while (!left.empty() && run_.outcome) {
      const std::vector<const Trial*> group = take_group(left);
      if (group.empty()) {
        break;
      }
      run_group(group);
    }
    return std::move(run_);
  }

 private:
  [[nodiscard]] std::int64_t remaining_ns() const { return ends_ns_ - options_.now_ns(); }

  /// The next trials of one row, as many as the budget has time for; empty where for none.
  [[nodiscard]] std::vector<const Trial*> take_group(std::vector<const Trial*>& left) const {
    const std::string row = left.front()->record.row;
    const auto rounds = remaining_ns() / visit_ns_;
    const auto most = std::max<std::int64_t>(rounds / options_.pairs - 1, 1);
    std::vector<const Trial*> group;
    if (rounds < 2 * kLeastPairs) {
      return group;
    }
    for (const Trial* trial : left) {
      if (trial->record.row == row && static_cast<std::int64_t>(group.size()) < most) {
        group.push_back(trial);
      }
    }
    std::erase_if(
        left, [&](const Trial* trial) { return std::ranges::find(group, trial) != group.end(); });
    return group;
  }

  void run_group(const std::vector<const Trial*>& group) {
    std::vector<Running> running;
    for (const Trial* trial : group) {
      running.push_back({trial, {}, {}});
    }
    std::vector<double> base;
    for (std::uint32_t pair = 0; pair < options_.pairs && run_.outcome; ++pair) {
      const auto going = std::ranges::count(running, std::string(), &Running::note);
      if (going == 0 || (pair >= kLeastPairs && remaining_ns() < (going + 1) * visit_ns_)) {
        break;
      }
      const auto reading = visit(group.front()->base);
      if (!reading) {
        end_all(running, "the row as it was failed: " + reading.error().message);
        break;
      }
      base.push_back(reading->value);
      rotate(running, *reading, pair);
    }
    for (const Running& one : running) {
      finish(one, base);
    }
  }

  /// One visit of each change that is still going.
  void rotate(std::vector<Running>& running, const Reading& base, std::uint32_t pair) {
    for (Running& one : running) {
      if (!one.note.empty() || !run_.outcome) {
        continue;
      }
      if (options_.on_pair) {
        options_.on_pair(one.trial->record, pair);
      }
      const auto reading = visit(one.trial->changed);
      if (!reading) {
        one.note = run_.outcome ? reading.error().message : std::string();
      } else if (made_no_difference(*one.trial, base.tunables, reading->tunables)) {
        one.note = "it changed nothing: the host caps the value at what was in effect";
      } else {
        one.values.push_back(reading->value);
      }
    }
  }

  void finish(const Running& one, std::span<const double> base) {
    Intervention record = one.trial->record;
    record.note = one.note;
    if (one.note.empty()) {
      compare_pairs(base, one.values, rng_.next(), record);
    }
    const bool told = record.n_pairs >= kLeastPairs || !record.note.empty();
    if (told) {
      run_.interventions.push_back(std::move(record));
    }
  }

  /// Trials that have pairs already keep them; what ended the run is no fault of theirs.
  void end_all(std::vector<Running>& running, const std::string& note) const {
    for (Running& one : running) {
      const bool failed = run_.outcome && one.note.empty() && one.values.size() < kLeastPairs;
      one.note = failed ? note : one.note;
    }
  }

  /// A visit; what ends everything goes to the outcome.
  [[nodiscard]] Result<Reading> visit(const plan::TestPoint& point) {
    const auto transport = transports_.get(point.transport);
    if (!transport) {
      return tl::unexpected(transport.error());
    }
    const bool latency = point.pattern == plan::Pattern::ping_pong;
    const std::int64_t began_ns = options_.now_ns();
    auto result = run_visit({point, visits_, rng_.next(), latency ? kLatencyLimits : kStreamLimits},
                            *transport, context_);
    note_visit(options_.now_ns() - began_ns);
    if (!result) {
      note_end(result.error());
      return tl::unexpected(result.error());
    }
    return reading_of(std::move(*result));
  }

  /// The slowest visit so far is what the next one is expected to take.
  void note_visit(std::int64_t duration_ns) {
    visit_ns_ =
        visits_++ == 0 ? std::max<std::int64_t>(duration_ns, 1) : std::max(visit_ns_, duration_ns);
  }

  void note_end(const Error& error) {
    if (context_.channel.ended()) {
      run_.outcome = tl::unexpected(context_.channel.end_reason().value_or(error));
    } else if (error.exit_class == ExitClass::interrupted || context_.interrupted) {
      run_.outcome = fail("interrupted", "stopped by a signal", {}, ExitClass::interrupted);
    }
  }

  const SweepContext& context_;
  const TrialOptions& options_;
  plugin::TransportCache transports_;
  stats::Rng rng_;
  std::int64_t ends_ns_;
  std::int64_t visit_ns_ = kExpectedVisitNs;
  std::uint32_t visits_ = 0;
  TrialRun run_;
};

}  // namespace

TrialRun run_trials(std::span<const Trial> trials, const SweepContext& context,
                    const TrialOptions& options) {
  return TrialRunner(context, options).run(trials);
}

}  // namespace netbench::measure
