#include "report/render/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

Measurement with_buffer(const std::string& id, double goodput_bps, Value buffer) {
  Measurement row = test::stream_row(id, 1 << 20, goodput_bps);
  row.tunables.requested = {{"tcp.rcvbuf", std::move(buffer)}};
  return row;
}

std::string summary_of(std::vector<Measurement> rows) {
  Document document = test::failed_document();
  document.measurements = std::move(rows);
  return fmt::format("{}", fmt::join(plain_summary(document), "\n"));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(PlainSummary, SaysThatLargerBuffersDidNotHelp) {
  const std::string text = summary_of({with_buffer("a", 9.4e9, std::string("auto")),
                                       with_buffer("b", 9.401e9, std::int64_t{16 << 20})});
  EXPECT_TRUE(contains(text, "tcp.rcvbuf 16 MiB instead of auto")) << text;
  EXPECT_TRUE(contains(text, "no difference beyond the intervals")) << text;
}

TEST(PlainSummary, SaysThatABufferHelpedOrHurt) {
  EXPECT_TRUE(contains(summary_of({with_buffer("a", 5e9, std::string("auto")),
                                   with_buffer("b", 9e9, std::int64_t{16 << 20})}),
                       ": higher."));
  EXPECT_TRUE(contains(summary_of({with_buffer("a", 9e9, std::string("auto")),
                                   with_buffer("b", 5e9, std::int64_t{64 << 10})}),
                       ": lower."));
}

TEST(PlainSummary, ComparesOnlyRowsThatDifferInTheBufferAlone) {
  Measurement other_size = with_buffer("b", 9e9, std::int64_t{16 << 20});
  other_size.size_bytes = 64 << 10;
  const std::string text = summary_of({with_buffer("a", 5e9, std::string("auto")), other_size});
  EXPECT_FALSE(contains(text, "instead of auto")) << text;
}

TEST(PlainSummary, DoesNotJudgeWithoutIntervals) {
  Measurement single = with_buffer("b", 9e9, std::int64_t{16 << 20});
  single.summary.goodput_low_bps.reset();
  single.summary.goodput_high_bps.reset();
  EXPECT_TRUE(contains(summary_of({with_buffer("a", 5e9, std::string("auto")), single}),
                       "too few rounds to tell them apart"));
}

TEST(PlainSummary, ComparesTheLargestMtuWithTheSmallest) {
  Measurement small = test::stream_row("a", 1 << 20, 9e9);
  small.mtu_bytes = 1500;
  Measurement large = test::stream_row("b", 1 << 20, 9.8e9);
  large.mtu_bytes = 9000;
  EXPECT_TRUE(contains(summary_of({small, large}), "MTU 9000 instead of 1500"));
}

TEST(PlainSummary, StatesShareIntervalAndN) {
  const std::string text = summary_of({test::stream_row("a", 1 << 20, 9.412e9)});
  EXPECT_TRUE(contains(text, "9.412 Gb/s [9.403 Gb/s to 9.421 Gb/s, 95 %, n = 5 rounds]")) << text;
  EXPECT_TRUE(contains(text, "% of the 9.900 Gb/s the wire carries")) << text;
}

TEST(PlainSummary, HalvesTheRoundTripOfTheSmallestMessage) {
  const std::string text =
      summary_of({test::latency_row("b", 65536, 80'000), test::latency_row("a", 64, 22'400)});
  EXPECT_TRUE(contains(text, "half RTT 11.2 us with 64 B messages (median RTT 22.4 us")) << text;
}

TEST(PlainSummary, CountsPointsWithoutResult) {
  EXPECT_TRUE(contains(summary_of(test::sample_document().measurements),
                       "2 of 12 points have no result: 1 x mtu-not-varied, 1 x peer-vanished."));
}

TEST(PlainSummary, IsEmptyWhereNothingWasMeasured) {
  EXPECT_TRUE(plain_summary(test::failed_document()).empty());
}

}  // namespace
}  // namespace netbench::report
