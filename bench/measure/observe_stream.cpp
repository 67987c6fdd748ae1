#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "bench/measure/observe.hpp"
#include "bench/stats/drift.hpp"
#include "bench/stats/estimate.hpp"
#include "bench/stats/stopping.hpp"
#include "bench/stats/warmup.hpp"

namespace netbench::measure {

namespace {

constexpr std::int64_t kWindowNs = 25'000'000;  // 20 of them are the least measured time
constexpr std::int64_t kMeasuredNs = 500'000'000;
constexpr std::size_t kWindowsBeforeCut = 6;

double rate_bps(const SeriesPoint& point) {
  return point.duration_ns > 0
             ? static_cast<double>(point.bytes) * 8e9 / static_cast<double>(point.duration_ns)
             : 0.0;
}

std::vector<double> rates_of(std::span<const SeriesPoint> series) {
  std::vector<double> rates(series.size());
  std::ranges::transform(series, rates.begin(), rate_bps);
  return rates;
}

/// The windows of the visit so far.
class StreamVisit {
 public:
  explicit StreamVisit(const WindowBatch& run) : run_(run) {}

  [[nodiscard]] Status window() {
    const auto times = run_(kWindowNs);
    if (!times) {
      return tl::unexpected(times.error());
    }
    const std::int64_t duration_ns = times->end_ns - times->begin_ns;
    elapsed_ns_ += duration_ns;
    series_.push_back({elapsed_ns_, duration_ns, times->bytes});
    messages_.push_back(times->messages);
    return {};
  }

  [[nodiscard]] std::int64_t elapsed_ns() const { return elapsed_ns_; }
  [[nodiscard]] const std::vector<SeriesPoint>& series() const { return series_; }
  [[nodiscard]] std::int64_t time_before(std::size_t cut) const {
    return cut == 0 ? 0 : series_[cut - 1].end_ns;
  }
  [[nodiscard]] std::int64_t messages_after(std::size_t cut) const {
    return std::accumulate(messages_.begin() + static_cast<std::ptrdiff_t>(cut), messages_.end(),
                           std::int64_t{0});
  }

 private:
  const WindowBatch& run_;
  std::vector<SeriesPoint> series_;
  std::vector<std::int64_t> messages_;
  std::int64_t elapsed_ns_ = 0;
};

/// Windows until the rate is on its plateau, at most half of the visit; returns how many to cut.
/// The first window is always cut: it has the burst that fills buffers and buckets.
Result<stats::Truncation> warm_up(StreamVisit& visit, const VisitLimits& limits,
                                  const std::function<bool()>& interrupted) {
  while (true) {
    if (auto done = visit.window(); !done) {
      return tl::unexpected(done.error());
    }
    if (interrupted()) {
      return stats::Truncation{};
    }
    if (visit.series().size() < kWindowsBeforeCut) {
      continue;
    }
    stats::Truncation cut = stats::plateau_start(rates_of(visit.series()));
    cut.cut = std::max<std::size_t>(cut.cut, 1);
    if (!cut.reached_cap || visit.elapsed_ns() >= limits.max_time_ns / 2) {
      return cut;
    }
  }
}

void set_interval(StreamRecord& record, std::span<const double> rates) {
  const std::size_t batches = std::min(rates.size(), stats::kSuperbatches);
  std::vector<double> means;
  for (std::size_t i = 0; i < batches; ++i) {
    const std::size_t begin = rates.size() * i / batches;
    const std::size_t end = rates.size() * (i + 1) / batches;
    means.push_back(std::accumulate(rates.begin() + static_cast<std::ptrdiff_t>(begin),
                                    rates.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                    static_cast<double>(end - begin));
  }
  const stats::Estimate interval = stats::interval_of_medians(record.goodput_bps, means);
  if (interval.has_interval) {
    record.low_bps = std::max(interval.low, 0.0);
    record.high_bps = interval.high;
  }
}

StreamRecord make_record(const StreamVisit& visit, const stats::Truncation& cut,
                         std::string_view reason) {
  StreamRecord record;
  record.series = visit.series();
  record.warmup_cut_ns = visit.time_before(cut.cut);
  const auto kept = std::span(record.series).subspan(std::min(cut.cut, record.series.size()));
  for (const SeriesPoint& point : kept) {
    record.measured_bytes += point.bytes;
    record.measured_ns += point.duration_ns;
  }
  record.messages = visit.messages_after(std::min(cut.cut, record.series.size()));
  record.goodput_bps = rate_bps({0, record.measured_ns, record.measured_bytes});
  set_interval(record, rates_of(kept));
  record.stop_reason = reason;
  record.no_steady_state = cut.reached_cap;
  return record;
}

}  // namespace

Result<StreamRecord> observe_stream(const WindowBatch& run, const VisitLimits& limits,
                                    const std::function<bool()>& interrupted) {
  StreamVisit visit(run);
  const auto cut = warm_up(visit, limits, interrupted);
  if (!cut) {
    return tl::unexpected(cut.error());
  }
  stats::StoppingOptions options = stats::StoppingOptions::bandwidth();
  options.precision = limits.precision;
  options.min_time_ns = std::max(limits.min_time_ns, kMeasuredNs);
  options.max_time_ns = std::max(limits.max_time_ns, kMeasuredNs);
  stats::StoppingRule rule(options);
  for (const SeriesPoint& point : std::span(visit.series()).subspan(cut->cut)) {
    rule.add(rate_bps(point));
  }
  const std::int64_t began_ns = visit.time_before(cut->cut);
  stats::StopReason reason = stats::StopReason::go_on;
  while (reason == stats::StopReason::go_on) {
    if (interrupted()) {
      reason = stats::StopReason::cancelled;
      break;
    }
    if (auto done = visit.window(); !done) {
      return tl::unexpected(done.error());
    }
    rule.add(rate_bps(visit.series().back()));
    reason = rule.look(visit.elapsed_ns() - began_ns);
  }
  return make_record(visit, *cut, stats::to_string(reason));
}

std::set<std::string> observation_flags(const StreamRecord& record) {
  std::set<std::string> flags;
  if (record.no_steady_state) {
    flags.insert("no_steady_state");
  }
  if (record.measured_ns < kMeasuredNs) {
    flags.insert("too_short");
  }
  const auto first = std::ranges::find_if(
      record.series, [&](const SeriesPoint& point) { return point.end_ns > record.warmup_cut_ns; });
  const std::vector<SeriesPoint> kept(first, record.series.end());
  if (stats::detect_drift(rates_of(kept)).drifting) {
    flags.insert("drift");
  }
  return flags;
}

}  // namespace netbench::measure
