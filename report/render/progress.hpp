#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace netbench::report {

/// How far a run is. A visit is one point in one round.
struct ProgressState {
  std::uint32_t done_visits = 0;
  std::uint32_t total_visits = 0;       // 0: not known yet
  std::string current_point{};          // "tcp bandwidth 1 MiB forward"
  std::optional<double> current_bps{};  // newest reading of the receiver
  std::optional<double> current_rtt_ns{};
  std::int64_t elapsed_ns = 0;
  std::optional<std::int64_t> left_ns{};  // from the budget; else estimated from done/total
};

/// One line of at most `width` columns, without newline or control characters:
/// "[ 12/90] 0:08 left  tcp bandwidth 1 MiB forward  9.412 Gb/s". Pure.
[[nodiscard]] std::string render_progress(const ProgressState& state, int width = 80);

}  // namespace netbench::report
