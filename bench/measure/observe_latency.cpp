#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/observe.hpp"
#include "bench/stats/modes.hpp"
#include "bench/stats/quantile.hpp"
#include "bench/stats/stopping.hpp"
#include "bench/stats/warmup.hpp"

namespace netbench::measure {

namespace {

constexpr std::int64_t kBatchNs = 1'000'000;
constexpr std::int64_t kMinWarmupOperations = 100;
constexpr std::size_t kMaxBatch = 1 << 16;
constexpr std::size_t kBatchesBeforeCut = 8;

/// The samples of the visit and where its batches begin.
class LatencyVisit {
 public:
  LatencyVisit(const PingPongBatch& run, const VisitLimits& limits)
      : run_(run), limits_(limits), buffer_(kMaxBatch) {}

  [[nodiscard]] Status batch() {
    auto times = run_(next_batch_operations(), buffer_);
    if (!times) {
      return tl::unexpected(times.error());
    }
    const std::span<const std::uint64_t> fresh(buffer_.data(), times->samples);
    batch_starts_.push_back(samples_.size());
    samples_.insert(samples_.end(), fresh.begin(), fresh.end());
    elapsed_ns_ += times->end_ns - times->begin_ns;
    batch_ends_ns_.push_back(elapsed_ns_);
    return {};
  }

  [[nodiscard]] bool warm_enough_to_ask() const {
    const auto operations = static_cast<std::int64_t>(samples_.size());
    return elapsed_ns_ >= limits_.max_time_ns / 20 && operations >= kMinWarmupOperations &&
           batch_starts_.size() >= kBatchesBeforeCut;
  }
  [[nodiscard]] bool warmup_time_over() const { return elapsed_ns_ >= limits_.max_time_ns / 2; }

  [[nodiscard]] stats::Truncation truncation() const {
    std::vector<double> medians;
    for (std::size_t i = 0; i < batch_starts_.size(); ++i) {
      medians.push_back(stats::median(batch_samples(i)));
    }
    return stats::mser_truncation(medians);
  }

  /// The first sample kept and the time that passed before it, where `cut` batches are dropped.
  [[nodiscard]] std::size_t first_kept(std::size_t cut) const {
    return cut < batch_starts_.size() ? batch_starts_[cut] : samples_.size();
  }
  [[nodiscard]] std::int64_t time_before(std::size_t cut) const {
    return cut == 0 ? 0 : batch_ends_ns_[cut - 1];
  }
  [[nodiscard]] std::int64_t elapsed_ns() const { return elapsed_ns_; }
  [[nodiscard]] std::span<const double> samples() const { return samples_; }
  [[nodiscard]] std::size_t last_batch_start() const { return batch_starts_.back(); }

 private:
  [[nodiscard]] std::span<const double> batch_samples(std::size_t index) const {
    const std::size_t begin = batch_starts_[index];
    const std::size_t end = first_kept(index + 1);
    return std::span<const double>(samples_).subspan(begin, end - begin);
  }

  /// Enough operations for kBatchNs, and 32 of them unless each is slow.
  [[nodiscard]] std::int64_t next_batch_operations() const {
    if (samples_.empty()) {
      return 8;
    }
    const auto n = static_cast<std::int64_t>(samples_.size());
    const std::int64_t operation_ns = std::max<std::int64_t>(elapsed_ns_ / n, 1);
    const std::int64_t least = operation_ns < kBatchNs ? 32 : 4;
    return std::clamp<std::int64_t>(kBatchNs / operation_ns + 1, least,
                                    static_cast<std::int64_t>(kMaxBatch));
  }

  const PingPongBatch& run_;
  const VisitLimits& limits_;
  std::vector<std::uint64_t> buffer_;
  std::vector<double> samples_;
  std::vector<std::size_t> batch_starts_;
  std::vector<std::int64_t> batch_ends_ns_;
  std::int64_t elapsed_ns_ = 0;
};

/// Runs the warm-up; returns how many batches to cut.
Result<stats::Truncation> warm_up(LatencyVisit& visit, const std::function<bool()>& interrupted) {
  while (true) {
    if (auto done = visit.batch(); !done) {
      return tl::unexpected(done.error());
    }
    if (interrupted()) {
      return stats::Truncation{};
    }
    if (!visit.warm_enough_to_ask() && !visit.warmup_time_over()) {
      continue;
    }
    const stats::Truncation cut = visit.truncation();
    if (!cut.reached_cap || visit.warmup_time_over()) {
      return cut;
    }
  }
}

LatencyRecord make_record(const LatencyVisit& visit, const stats::Truncation& cut,
                          const stats::StoppingRule& rule, std::string_view reason) {
  LatencyRecord record;
  const std::size_t first = visit.first_kept(cut.cut);
  for (const double sample : visit.samples().subspan(first)) {
    record.histogram.record(static_cast<std::uint64_t>(sample));
  }
  record.warmup_samples = static_cast<std::int64_t>(first);
  record.warmup_cut_ns = visit.time_before(cut.cut);
  record.measured_ns = visit.elapsed_ns() - record.warmup_cut_ns;
  const stats::Estimate median = rule.estimate();
  record.median_ns = median.value;
  if (median.has_interval) {
    record.low_ns = median.low;
    record.high_ns = median.high;
  }
  record.stop_reason = reason;
  record.no_steady_state = cut.reached_cap;
  return record;
}

/// Batches until the stopping rule, fed with what the cut leaves, has an answer.
Result<stats::StopReason> measure(LatencyVisit& visit, stats::StoppingRule& rule,
                                  std::int64_t began_ns, const std::function<bool()>& interrupted) {
  stats::StopReason reason = rule.look(visit.elapsed_ns() - began_ns);
  while (reason == stats::StopReason::go_on) {
    if (interrupted()) {
      return stats::StopReason::cancelled;
    }
    if (auto done = visit.batch(); !done) {
      return tl::unexpected(done.error());
    }
    rule.add(visit.samples().subspan(visit.last_batch_start()));
    reason = rule.look(visit.elapsed_ns() - began_ns);
  }
  return reason;
}

/// A slow start can outlast the warm-up. Seen from the end of the visit, a later cut counts where
/// what it drops is clearly another level than what it leaves.
std::optional<stats::Truncation> later_cut(const LatencyVisit& visit,
                                           const stats::Truncation& before) {
  constexpr double kOtherLevel = 0.1;
  const stats::Truncation after = visit.truncation();
  if (after.cut <= before.cut) {
    return std::nullopt;
  }
  const std::size_t first = visit.first_kept(after.cut);
  const double dropped = stats::median(visit.samples().first(first));
  const double kept = stats::median(visit.samples().subspan(first));
  return std::abs(dropped - kept) > kOtherLevel * kept ? std::optional(after) : std::nullopt;
}

}  // namespace

Result<LatencyRecord> observe_latency(const PingPongBatch& run, const VisitLimits& limits,
                                      const std::function<bool()>& interrupted) {
  LatencyVisit visit(run, limits);
  auto cut = warm_up(visit, interrupted);
  if (!cut) {
    return tl::unexpected(cut.error());
  }
  stats::StoppingOptions options;
  options.precision = limits.precision;
  options.min_time_ns = limits.min_time_ns;
  options.max_time_ns = limits.max_time_ns;
  while (true) {
    stats::StoppingRule rule(options);
    rule.add(visit.samples().subspan(visit.first_kept(cut->cut)));
    const auto reason = measure(visit, rule, visit.time_before(cut->cut), interrupted);
    if (!reason) {
      return tl::unexpected(reason.error());
    }
    const auto later = later_cut(visit, *cut);
    if (!later || *reason == stats::StopReason::cancelled) {
      return make_record(visit, *cut, rule, stats::to_string(*reason));
    }
    *cut = *later;
  }
}

std::set<std::string> observation_flags(const LatencyRecord& record) {
  std::set<std::string> flags;
  if (record.no_steady_state) {
    flags.insert("no_steady_state");
  }
  if (stats::detect_modes(record.histogram).multimodal()) {
    flags.insert("multimodal");
  }
  return flags;
}

}  // namespace netbench::measure
