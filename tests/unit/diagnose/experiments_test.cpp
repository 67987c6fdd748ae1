#include "report/diagnose/experiments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "report/diagnose/cores.hpp"

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
  const auto streams = experiment_on("more-streams", row(), Document{});
  ASSERT_TRUE(streams);
  EXPECT_EQ(streams->tunables.at("tcp.streams"), Value(std::int64_t{8}));
  EXPECT_EQ(streams->tunables.at("tcp.rcvbuf"), Value(std::int64_t{65536}));
  EXPECT_EQ(streams->change, "8 streams instead of 2");
  EXPECT_EQ(streams->row, "row");
}

TEST(Experiment, WithLargerBuffersIsFourTimesWhatWasAskedFor) {
  EXPECT_EQ(experiment_on("larger-rcvbuf", row(), Document{})->tunables.at("tcp.rcvbuf"),
            Value(std::int64_t{4 * 65536}));
  EXPECT_EQ(experiment_on("larger-sndbuf", row(), Document{})->tunables.at("tcp.sndbuf"),
            Value(std::int64_t{8} << 20));
}

TEST(Experiment, IsLeftOutWhereItWouldChangeNothing) {
  Measurement large = row();
  large.size_bytes = 8 << 20;
  EXPECT_FALSE(experiment_on("larger-message", large, Document{}));
  EXPECT_FALSE(experiment_on("no-read-rate", row(), Document{}));
  EXPECT_FALSE(experiment_on("no such experiment", row(), Document{}));
}

TEST(Experiment, SpinsWhereARoundTripSleeps) {
  Measurement sleeping = row();
  EXPECT_FALSE(experiment_on("busy-latency", sleeping, Document{}));
  sleeping.tunables.effective_initiator["tcp.wait"] = std::string("block");
  const auto spinning = experiment_on("busy-latency", sleeping, Document{});
  ASSERT_TRUE(spinning);
  EXPECT_EQ(spinning->tunables.at("tcp.wait"), Value(std::string("spin")));
  sleeping.tunables.effective_initiator["tcp.wait"] = std::string("spin");
  EXPECT_FALSE(experiment_on("busy-latency", sleeping, Document{}));
}

/// Two hosts whose runs may use these CPUs.
Document on_cpus(const char* initiator, const char* responder) {
  Document document;
  for (const auto& [key, cpus] : {std::pair("h0", initiator), std::pair("h1", responder)}) {
    document.hosts[key].interface = "eth0";
    document.hosts[key].facts = {{"process.cpus_allowed", std::string(cpus), "test", ""}};
  }
  return document;
}

Measurement busy_row() {
  Measurement busy = row();
  busy.rounds.resize(1);
  busy.rounds[0].initiator.elapsed_s = 5;
  busy.rounds[0].responder.elapsed_s = 5;
  busy.rounds[0].initiator.counters = {{"cpu.0.busy_s", 5.0}, {"cpu.1.busy_s", 1.0}};
  busy.rounds[0].responder.counters = {{"cpu.4.busy_s", 5.0}};
  return busy;
}

TEST(Experiment, MovesThreadsToTheQuietestOtherCores) {
  const auto moved_to = experiment_on("other-core", busy_row(), on_cpus("0-3", "4-5"));
  ASSERT_TRUE(moved_to);
  // Two streams take two cores where there are two.
  EXPECT_EQ(moved_to->tunables.at("tcp.cpu"), Value(std::string("2+3:5")));
}

TEST(Experiment, PrefersCoresOfTheCardsNode) {
  Document document = on_cpus("0-7", "4-5");
  document.hosts["h0"].facts.push_back({"if.eth0.local_cpus", std::string("6-7"), "test", ""});
  EXPECT_EQ(experiment_on("other-core", busy_row(), document)->tunables.at("tcp.cpu"),
            Value(std::string("6+7:5")));
}

TEST(Experiment, LeavesThreadsWhereThereIsNoOtherCore) {
  EXPECT_FALSE(experiment_on("other-core", busy_row(), on_cpus("0", "4")));
  EXPECT_FALSE(experiment_on("other-core", busy_row(), Document{}));
  // What others keep busy proves nothing.
  Measurement crowded = busy_row();
  crowded.rounds[0].initiator.counters["cpu.1.busy_s"] = 4.9;
  EXPECT_FALSE(experiment_on("other-core", crowded, on_cpus("0-1", "4")));
  // One end moves, the other stays.
  EXPECT_EQ(experiment_on("other-core", busy_row(), on_cpus("0-1", "4"))->tunables.at("tcp.cpu"),
            Value(std::string("1:4")));
}

TEST(CpuLists, AreReadAsTheKernelWritesThem) {
  EXPECT_EQ(cpus_of("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(cpus_of("3+5"), (std::vector<int>{3, 5}));
  EXPECT_TRUE(cpus_of("auto").empty());
  EXPECT_TRUE(cpus_of("").empty());
  EXPECT_TRUE(cpus_of("1-").empty());
}

TEST(Experiments, ThatTellHypothesesApartComeFirst) {
  constexpr std::array<Prediction, 2> kWindow{
      {{"larger-rcvbuf", 1.3, 5}, {"more-streams", 1.5, 5}}};
  constexpr std::array<Prediction, 1> kShaper{{{"more-streams", 0.9, 1.1}}};
  const Rule window{"w", "W01", Scope::stream, Kind::limit, Severity::problem, nullptr, kWindow};
  const Rule shaper{"l", "L16", Scope::stream, Kind::limit, Severity::problem, nullptr, kShaper};
  const Verdict verdict;
  const std::array<Hypothesis, 2> both{{{&window, &verdict}, {&shaper, &verdict}}};
  const auto found = deciding(both, row(), Document{});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, "more-streams");
  EXPECT_EQ(found[1].id, "larger-rcvbuf");
}

}  // namespace
}  // namespace netbench::report
