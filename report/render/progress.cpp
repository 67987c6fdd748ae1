#include "report/render/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "report/render/table.hpp"

namespace netbench::report {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerHour = 3600;

/// "0:08", "12:40", "1:02:03".
std::string clock_text(std::int64_t ns) {
  const std::int64_t seconds = (std::max<std::int64_t>(ns, 0) + kNsPerSecond / 2) / kNsPerSecond;
  const std::int64_t minutes = seconds / 60;
  return seconds < kSecondsPerHour
             ? fmt::format("{}:{:02}", minutes, seconds % 60)
             : fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

std::optional<std::int64_t> time_left(const ProgressState& state) {
  if (state.left_ns || state.done_visits == 0 || state.total_visits < state.done_visits) {
    return state.left_ns;
  }
  return state.elapsed_ns / state.done_visits * (state.total_visits - state.done_visits);
}

/// The text without control characters, cut to `width` columns at a whole character.
std::string fitted(const std::string& text, int width) {
  std::string result;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continues && display_width(result) >= static_cast<std::size_t>(std::max(width, 0))) {
      break;
    }
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result;
}

}  // namespace

std::string render_progress(const ProgressState& state, int width) {
  const std::string total = std::to_string(state.total_visits);
  std::string line = state.total_visits == 0
                         ? fmt::format("[{}]", state.done_visits)
                         : fmt::format("[{:>{}}/{}]", state.done_visits, total.size(), total);
  if (const auto left = time_left(state)) {
    line += fmt::format(" {} left", clock_text(*left));
  } else {
    line += fmt::format(" {} elapsed", clock_text(state.elapsed_ns));
  }
  if (!state.current_point.empty()) {
    line += "  " + state.current_point;
  }
  if (state.current_bps) {
    line += "  " + format_bits_per_second(*state.current_bps);
  }
  if (state.current_rtt_ns) {
    line += fmt::format("  RTT {}", format_ns(*state.current_rtt_ns));
  }
  return fitted(line, width);
}

}  // namespace netbench::report
