#include "bench/stats/stopping.hpp"

#include <algorithm>
#include <array>

#include "bench/stats/quantile.hpp"

namespace netbench::stats {

namespace {

constexpr std::size_t kStableLooks = 3;

struct ReasonName {
  StopReason reason;
  std::string_view name;
};

constexpr std::array<ReasonName, 5> kReasonNames{{{StopReason::go_on, "go_on"},
                                                  {StopReason::converged, "converged"},
                                                  {StopReason::noise_converged, "noise_converged"},
                                                  {StopReason::max_time, "max_time"},
                                                  {StopReason::cancelled, "cancelled"}}};

}  // namespace

StoppingOptions StoppingOptions::bandwidth() {
  StoppingOptions options;
  options.precision = 0.005;
  options.min_samples = static_cast<std::int64_t>(kSuperbatches);
  return options;
}

std::string_view to_string(StopReason reason) {
  const auto* row = std::find_if(kReasonNames.begin(), kReasonNames.end(),
                                 [reason](const ReasonName& r) { return r.reason == reason; });
  return row == kReasonNames.end() ? std::string_view{} : row->name;
}

StopReason StoppingRule::look(std::int64_t elapsed_ns) {
  if (answer_ != StopReason::go_on) {
    return answer_;
  }
  const std::int64_t due = looks_.empty() ? options_.min_samples : 2 * looks_.back().n;
  if (count() >= due && elapsed_ns >= options_.min_time_ns) {
    const std::vector<double> medians = superbatch_medians(values_);
    looks_.push_back({.n = count(),
                      .estimate = interval_of_medians(median(values_), medians, options_.level),
                      .lag1 = lag1_autocorrelation(medians)});
    looks_.back().estimate.n = count();
    answer_ = judge();
  }
  if (answer_ == StopReason::go_on && elapsed_ns >= options_.max_time_ns) {
    answer_ = StopReason::max_time;
  }
  return answer_;
}

Estimate StoppingRule::estimate() const { return superbatch_interval(values_, options_.level); }

StopReason StoppingRule::judge() const {
  const Look& latest = looks_.back();
  const bool precise =
      latest.estimate.has_interval && latest.estimate.relative_half_width() <= options_.precision;
  if (precise && latest.lag1 < kMaxLag1) {
    return StopReason::converged;
  }
  return width_is_stable() ? StopReason::noise_converged : StopReason::go_on;
}

bool StoppingRule::width_is_stable() const {
  if (looks_.size() < kStableLooks) {
    return false;
  }
  const auto recent = std::span(looks_).last(kStableLooks);
  const auto [narrowest, widest] =
      std::minmax_element(recent.begin(), recent.end(), [](const Look& a, const Look& b) {
        return a.estimate.relative_half_width() < b.estimate.relative_half_width();
      });
  return widest->estimate.relative_half_width() <=
         narrowest->estimate.relative_half_width() * (1 + kStableWidth);
}

}  // namespace netbench::stats
