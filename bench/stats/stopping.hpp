#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/stats/estimate.hpp"

namespace netbench::stats {

/// When a round may end. Defaults are for latency samples; bandwidth() for window rates.
struct StoppingOptions {
  double precision = 0.01;         ///< relative half-width wanted of the median's interval
  double level = 0.95;             ///< confidence level
  std::int64_t min_samples = 640;  ///< values before the first look: 20 super-batches of 32
  std::int64_t min_time_ns = 250'000'000;
  std::int64_t max_time_ns = 5'000'000'000;

  /// For rate windows: 0.5 %, first look at 20 windows.
  [[nodiscard]] static StoppingOptions bandwidth();
};

/// Answer of a look, and the reason stored with a round. `cancelled` is never the rule's answer.
enum class StopReason { go_on, converged, noise_converged, max_time, cancelled };

/// Stable names as in documents: "go_on", "converged", …
[[nodiscard]] std::string_view to_string(StopReason reason);

/// Decides when a round's median is known well enough. Has no clock: the caller says how much time
/// has passed. Looks only when the total has doubled since the last look, because looking often
/// makes intervals too narrow (optional stopping). Keeps every value (8 bytes each); add() may
/// allocate, so call it between batches. One thread at a time.
class StoppingRule {
 public:
  /// Largest lag-1 autocorrelation of super-batch medians at which their t interval is trusted.
  /// Sequential batch-means procedures test the same quantity (Law & Carson, Oper. Res. 27 (1979));
  /// 0.1 holds 95 % coverage at AR(1) 0.8, where 0.3 loses two points (simulated in the unit
  /// tests).
  static constexpr double kMaxLag1 = 0.1;
  /// The interval no longer narrows: widths of the last three looks within 5 % of each other. An
  /// independent series narrows by 29 % a look.
  static constexpr double kStableWidth = 0.05;

  /// What one look saw.
  struct Look {
    std::int64_t n = 0;
    Estimate estimate;
    double lag1 = 0;
  };

  explicit StoppingRule(const StoppingOptions& options) : options_(options) {}

  void add(double value) { values_.push_back(value); }
  void add(std::span<const double> values) {
    values_.insert(values_.end(), values.begin(), values.end());
  }

  /// Asks whether to stop, `elapsed_ns` after the round's measuring began (warm-up excluded).
  /// Returns go_on cheaply where it is not time for a look. After another answer the round is over;
  /// asking again repeats that answer.
  [[nodiscard]] StopReason look(std::int64_t elapsed_ns);

  /// Median and interval over everything added so far (an interval from 2 values on).
  [[nodiscard]] Estimate estimate() const;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  /// Looks taken so far, in order: totals at least double from one to the next.
  [[nodiscard]] std::span<const Look> looks() const { return looks_; }

 private:
  [[nodiscard]] StopReason judge() const;
  [[nodiscard]] bool width_is_stable() const;

  StoppingOptions options_;
  std::vector<double> values_;
  std::vector<Look> looks_;
  StopReason answer_ = StopReason::go_on;
};

}  // namespace netbench::stats
