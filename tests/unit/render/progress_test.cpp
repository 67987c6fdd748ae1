#include "report/render/progress.hpp"

#include <gtest/gtest.h>

namespace netbench::report {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Progress, ShowsVisitsTimePointAndRate) {
  EXPECT_EQ(render_progress({.done_visits = 12,
                             .total_visits = 90,
                             .current_point = "tcp bandwidth 1 MiB forward",
                             .current_bps = 9.412e9,
                             .left_ns = 8 * kSecond}),
            "[12/90] 0:08 left  tcp bandwidth 1 MiB forward  9.412 Gb/s");
}

TEST(Progress, EstimatesTheTimeLeftFromTheVisitsDone) {
  EXPECT_EQ(render_progress({.done_visits = 30, .total_visits = 90, .elapsed_ns = 3000 * kSecond}),
            "[30/90] 1:40:00 left");
}

TEST(Progress, ShowsTheTimeElapsedBeforeTheFirstVisit) {
  EXPECT_EQ(render_progress({.total_visits = 90, .elapsed_ns = 2 * kSecond}),
            "[ 0/90] 0:02 elapsed");
  EXPECT_EQ(render_progress({.current_rtt_ns = 22'400}), "[0] 0:00 elapsed  RTT 22.4 us");
}

TEST(Progress, CutsTheLineAndItsControlCharacters) {
  const ProgressState state{.total_visits = 9, .current_point = "evil\n\x1b[31m point"};
  EXPECT_EQ(render_progress(state, 30), "[0/9] 0:00 elapsed  evil  [31m");
  EXPECT_EQ(render_progress(state, 5), "[0/9]");
  EXPECT_EQ(render_progress(state, 0), "");
}

}  // namespace
}  // namespace netbench::report
