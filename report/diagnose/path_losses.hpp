#pragma once

#include <optional>

#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

/// How segments are lost on the path. Private to report/diagnose.
namespace netbench::report {

/// Measured with 0.1 … 2 % of random loss, Reno and CUBIC: 0.88 … 1.28 of the model.
inline constexpr double kModelLow = 0.5;
inline constexpr double kModelHigh = 1.6;
/// Measured: a policer at 100 Mb/s drops 9 … 19 %.
inline constexpr double kPoliced = 0.03;
/// Segments lost at once, on the average, of single frames. Random loss takes a second one of the
/// same window now and then: 1 + 1.22 sqrt(p) by the model, 1.0 … 1.5 measured at 0.1 … 2 %; a
/// queue of 12 … 24 packets 2.4 … 9.9.
inline constexpr double kTogether = 2;

/// The losses where they are the path's and no queue's; else what speaks against it.
struct PathLoss {
  std::optional<Losses> losses;
  Verdict against;
};
[[nodiscard]] PathLoss path_loss(Look& look);

/// Segments lost for each time the sender noticed.
[[nodiscard]] std::optional<double> burst_size(Look& look, const Losses& found);

/// Whether the sender's interface sent one segment a frame: behind segmentation offload one packet
/// dropped is many segments (measured: 714 drops, 20,826 segments).
[[nodiscard]] bool sends_single_frames(Look& look);

/// Single frames lost several at once, as a short queue loses them.
[[nodiscard]] bool lost_in_bursts(Look& look, const std::optional<double>& burst);

}  // namespace netbench::report
