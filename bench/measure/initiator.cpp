#include "bench/measure/initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "bench/facts/path_mtu.hpp"
#include "bench/measure/checks.hpp"
#include "bench/measure/summary.hpp"
#include "bench/measure/visit.hpp"
#include "bench/plugin/cache.hpp"

namespace netbench::measure {

namespace {

constexpr const char* kMssTunable = "mss";
constexpr const char* kNotReached = "not-reached";
/// What a filter on the path does to a transport: waiting for it again at each point would be vain.
constexpr const char* kUnanswered = "udp-no-answer";

class Sweep {
 public:
  Sweep(const plan::SweepPlan& plan, const plan::TimePlan& time, MtuAxis& mtu,
        const SweepContext& context, std::vector<Measurement>& rows, SweepSink& sink)
      : plan_(plan),
        time_(time),
        mtu_(mtu),
        context_(context),
        rows_(rows),
        sink_(sink),
        transports_(context.plugins) {}

  [[nodiscard]] Status run() {
    const std::vector<plan::Visit> order = plan_.order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const plan::Visit& visit = order[i];
      if (visit.round >= time_.rounds || has_round(rows_[visit.point], visit.round) ||
          rows_[visit.point].status == MeasurementStatus::skipped) {
        continue;
      }
      if (context_.interrupted) {
        return fail("interrupted", "stopped by a signal", {}, ExitClass::interrupted);
      }
      sink_.visit_begins(plan_.points[visit.point], i, order.size());
      if (auto done = make_visit(visit); !done) {
        return done;
      }
      sink_.row_changed(rows_, visit.point);
    }
    return mtu_.restore();
  }

 private:
  [[nodiscard]] static bool has_round(const Measurement& row, std::uint32_t index) {
    return std::ranges::any_of(row.rounds,
                               [&](const Round& round) { return round.index == index; });
  }

  /// One visit. Only an error that ends the sweep is returned; others go into the row.
  [[nodiscard]] Status make_visit(const plan::Visit& visit) {
    Measurement& row = rows_[visit.point];
    plan::TestPoint point = plan_.points[visit.point];
    if (!prepare_mtu(point, row)) {
      return {};
    }
    const auto transport = transports_.get(point.transport);
    if (!transport) {
      note_failure(row, transport.error());
      return {};
    }
    if (const auto known = unanswered_.find(point.transport); known != unanswered_.end()) {
      note_failure(row, known->second);
      return {};
    }
    auto result =
        run_visit({point, visit.round, visit.seed, limits_of(point)}, *transport, context_);
    if (!result) {
      return failed(row, result.error());
    }
    add_round(row, std::move(*result), point.transport);
    return {};
  }

  [[nodiscard]] Status failed(Measurement& row, const Error& error) {
    if (context_.channel.ended()) {
      return tl::unexpected(context_.channel.end_reason().value_or(error));
    }
    if (error.exit_class == ExitClass::interrupted || context_.interrupted) {
      return fail("interrupted", "stopped by a signal", {}, ExitClass::interrupted);
    }
    note_failure(row, error);
    if (error.slug == kUnanswered && !answered_.contains(row.transport)) {
      unanswered_.emplace(row.transport, error);
    }
    return {};
  }

  /// Brings the point's MTU about. False where it cannot be had: the row says so.
  [[nodiscard]] bool prepare_mtu(plan::TestPoint& point, Measurement& row) {
    const MtuLevel level = mtu_.level(point.mtu_bytes);
    if (level.way == MtuWay::not_varied) {
      row.status = MeasurementStatus::skipped;
      row.error = Error{"mtu-not-varied", "not varied: " + level.reason, {}, ExitClass::error};
      return false;
    }
    if (auto applied = mtu_.apply(point.mtu_bytes); !applied) {
      note_failure(row, applied.error());
      return false;
    }
    return level.way != MtuWay::emulated || emulate_mtu(point, row, level.reason);
  }

  [[nodiscard]] bool emulate_mtu(plan::TestPoint& point, Measurement& row,
                                 const std::string& reason) {
    const auto transport = transports_.get(point.transport);
    if (!transport || transport->spec().find_tunable(kMssTunable) == nullptr) {
      row.status = MeasurementStatus::skipped;
      row.error = Error{
          "mtu-not-varied",
          fmt::format("not varied: {} has no MSS to emulate it with ({})", point.transport, reason),
          {},
          ExitClass::error};
      return false;
    }
    const bool ipv6 = !context_.remote.addresses.empty() &&
                      context_.remote.addresses.front().find(':') != std::string::npos;
    // TCP_MAXSEG (tcp(7)) is clamped before options: with timestamps 12 bytes less are sent.
    const std::int64_t mss = facts::mss_for_mtu(point.mtu_bytes, ipv6 ? AF_INET6 : AF_INET, false);
    point.tunables.try_emplace(kMssTunable, plan::Level::integer(mss));
    if (row.flags.insert("emulated_mtu").second) {
      row.tunables.notes.push_back(fmt::format("MTU {} emulated {}", point.mtu_bytes, reason));
    }
    return true;
  }

  [[nodiscard]] VisitLimits limits_of(const plan::TestPoint& point) const {
    const plan::VisitTime& time = time_.of(point.pattern);
    const bool stream =
        point.pattern == plan::Pattern::stream || point.pattern == plan::Pattern::rate;
    return {time.min_time_ns, time.max_time_ns,
            stream ? context_.bandwidth_precision : context_.latency_precision};
  }

  static void note_failure(Measurement& row, const Error& error) {
    row.error = error;
    if (row.rounds.empty()) {
      row.status = MeasurementStatus::failed;
    } else {
      row.flags.insert("failed_rounds");
    }
  }

  void add_round(Measurement& row, VisitResult result, const std::string& transport) {
    answered_.insert(transport);
    Round& round = result.round;
    check_round(round, {context_.local, context_.remote, context_.same_machine, transport});
    if (round.latency) {
      round.flags.merge(observation_flags(*round.latency));
    }
    for (const auto* record : {&round.forward, &round.reverse}) {
      if (*record) {
        round.flags.merge(observation_flags(**record));
      }
    }
    if (row.error && row.error->slug == kNotReached) {
      row.error.reset();
    }
    if (row.error) {
      row.flags.insert("failed_rounds");
    }
    row.status = MeasurementStatus::ok;
    if (result.capped) {
      row.flags.insert("capped");
    }
    row.method = result.method;
    row.tunables.effective_initiator = std::move(result.tunables.effective_initiator);
    row.tunables.effective_responder = std::move(result.tunables.effective_responder);
    for (std::string& note : result.tunables.notes) {
      if (std::ranges::find(row.tunables.notes, note) == row.tunables.notes.end()) {
        row.tunables.notes.push_back(std::move(note));
      }
    }
    row.rounds.push_back(std::move(round));
    row.summary = summarize(row);
    row.flags = row_flags(row);
  }

  const plan::SweepPlan& plan_;
  const plan::TimePlan& time_;
  MtuAxis& mtu_;
  const SweepContext& context_;
  std::vector<Measurement>& rows_;
  SweepSink& sink_;
  plugin::TransportCache transports_;
  std::set<std::string> answered_;           // transports that had a round
  std::map<std::string, Error> unanswered_;  // transports that are not tried again
};

}  // namespace

std::vector<Measurement> empty_rows(const plan::SweepPlan& plan) {
  std::vector<Measurement> rows;
  for (const plan::TestPoint& point : plan.points) {
    Measurement row;
    row.id = point.id();
    row.transport = point.transport;
    row.workload = point.workload;
    row.direction = point.direction;
    row.size_bytes = point.message_bytes;
    row.mtu_bytes = point.mtu_bytes;
    row.status = MeasurementStatus::failed;
    row.error =
        Error{kNotReached, "the run ended before this point was measured", {}, ExitClass::partial};
    for (const auto& [name, level] : point.tunables) {
      const std::string full = fmt::format("{}.{}", point.transport, name);
      row.tunables.requested[full] = level.is_auto         ? Value(std::string("auto"))
                                     : !level.text.empty() ? Value(level.text)
                                                           : Value(level.number);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Status run_sweep(const plan::SweepPlan& plan, const plan::TimePlan& time, MtuAxis& mtu,
                 const SweepContext& context, std::vector<Measurement>& rows, SweepSink& sink) {
  return Sweep(plan, time, mtu, context, rows, sink).run();
}

}  // namespace netbench::measure
