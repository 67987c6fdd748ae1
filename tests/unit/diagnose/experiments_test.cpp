#include "report/diagnose/experiments.hpp"

#include <gtest/gtest.h>

#include <array>

namespace netbench::report {
namespace {

Intervention moved(double low, double ratio, double high) {
  Intervention one;
  one.id = "more-streams";
  one.n_pairs = 5;
  one.ratio = ratio;
  one.ratio_low = low;
  one.ratio_high = high;
  return one;
}

Measurement row() {
  Measurement row;
  row.id = "row";
  row.size_bytes = 65536;
  row.tunables.requested = {{"tcp.rcvbuf", std::int64_t{65536}}};
  row.tunables.effective_initiator = {{"tcp.streams", std::int64_t{2}},
                                      {"tcp.mss", std::int64_t{1448}},
                                      {"tcp.congestion", std::string("cubic")}};
  row.summary.goodput_bps = 1e9;
  return row;
}

constexpr Prediction kScales{"more-streams", 1.5, 5};
constexpr Prediction kShared{"more-streams", 0.9, 1.1};

TEST(Prediction, IsMetByAnIntervalInsideThatIsTellingFromNoChange) {
  const auto three = moved(2.7, 3.0, 3.4);
  EXPECT_EQ(shown(kScales, &three), Shown::moves);
  EXPECT_EQ(shown(kShared, &three), Shown::contradicts);
}

TEST(Prediction, OfNoChangeIsMetByStillness) {
  const auto still = moved(0.97, 1.0, 1.02);
  EXPECT_EQ(shown(kShared, &still), Shown::stays);
  EXPECT_EQ(shown(kScales, &still), Shown::contradicts);
}

TEST(Prediction, IsUndecidedByAnIntervalAcrossItsBorder) {
  const auto wide = moved(0.8, 1.6, 2.9);
  EXPECT_EQ(shown(kScales, &wide), Shown::undecided);
  EXPECT_EQ(shown(kShared, &wide), Shown::undecided);
}

TEST(Prediction, NeedsPairs) {
  EXPECT_EQ(shown(kScales, nullptr), Shown::not_run);
  Intervention none = moved(3, 3, 3);
  none.n_pairs = 0;
  EXPECT_EQ(shown(kScales, &none), Shown::not_run);
}

TEST(Experiment, VariesOneThingFromWhatTheRowHad) {
  const auto streams = experiment_on("more-streams", row());
  ASSERT_TRUE(streams);
  EXPECT_EQ(streams->tunables.at("tcp.streams"), Value(std::int64_t{8}));
  EXPECT_EQ(streams->tunables.at("tcp.rcvbuf"), Value(std::int64_t{65536}));
  EXPECT_EQ(streams->change, "8 streams instead of 2");
  EXPECT_EQ(streams->row, "row");
}

TEST(Experiment, WithLargerBuffersIsFourTimesWhatWasAskedFor) {
  EXPECT_EQ(experiment_on("larger-rcvbuf", row())->tunables.at("tcp.rcvbuf"),
            Value(std::int64_t{4 * 65536}));
  EXPECT_EQ(experiment_on("larger-sndbuf", row())->tunables.at("tcp.sndbuf"),
            Value(std::int64_t{8} << 20));
}

TEST(Experiment, IsLeftOutWhereItWouldChangeNothing) {
  Measurement large = row();
  large.size_bytes = 8 << 20;
  EXPECT_FALSE(experiment_on("larger-message", large));
  EXPECT_FALSE(experiment_on("no-read-rate", row()));
  EXPECT_FALSE(experiment_on("no such experiment", row()));
}

TEST(Experiments, ThatTellHypothesesApartComeFirst) {
  constexpr std::array<Prediction, 2> kWindow{
      {{"larger-rcvbuf", 1.3, 5}, {"more-streams", 1.5, 5}}};
  constexpr std::array<Prediction, 1> kShaper{{{"more-streams", 0.9, 1.1}}};
  const Rule window{"w", "W01", Scope::stream, Kind::limit, Severity::problem, nullptr, kWindow};
  const Rule shaper{"l", "L16", Scope::stream, Kind::limit, Severity::problem, nullptr, kShaper};
  const Verdict verdict;
  const std::array<Hypothesis, 2> both{{{&window, &verdict}, {&shaper, &verdict}}};
  const auto found = deciding(both, row());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, "more-streams");
  EXPECT_EQ(found[1].id, "larger-rcvbuf");
}

}  // namespace
}  // namespace netbench::report
