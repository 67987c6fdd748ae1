#include "bench/measure/observe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "bench/stats/rng.hpp"

namespace netbench::measure {
namespace {

bool never() { return false; }

/// A path in virtual time whose round trips are log-normal around `median_ns`, `slow_ns` more for
/// the first `slow_operations`.
class VirtualPath {
 public:
  explicit VirtualPath(double median_ns) : median_ns_(median_ns) {}

  std::int64_t slow_operations = 0;
  double slow_ns = 0;

  Result<BatchTimes> operator()(std::int64_t iterations, std::span<std::uint64_t> samples) {
    BatchTimes times;
    times.begin_ns = now_ns_;
    for (std::int64_t i = 0; i < iterations; ++i) {
      double value = median_ns_ * std::exp(0.1 * rng_.normal());
      value += done_++ < slow_operations ? slow_ns : 0.0;
      samples[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(value);
      now_ns_ += static_cast<std::int64_t>(value);
    }
    times.samples = static_cast<std::size_t>(iterations);
    times.end_ns = now_ns_;
    return times;
  }
  [[nodiscard]] std::int64_t done() const { return done_; }

 private:
  double median_ns_;
  stats::Rng rng_{42};
  std::int64_t done_ = 0;
  std::int64_t now_ns_ = 1'000'000;
};

/// A receiver in virtual time: `rate_bps` with 1 % noise, slower during a ramp.
class VirtualReceiver {
 public:
  explicit VirtualReceiver(double rate_bps) : rate_bps_(rate_bps) {}

  std::int64_t ramp_ns = 0;

  Result<BatchTimes> operator()(std::int64_t duration_ns) {
    BatchTimes times;
    times.begin_ns = now_ns_;
    now_ns_ += duration_ns;
    times.end_ns = now_ns_;
    const double share =
        ramp_ns > 0 ? std::min(1.0, static_cast<double>(now_ns_) / static_cast<double>(ramp_ns))
                    : 1.0;
    times.bytes = static_cast<std::int64_t>(
        rate_bps_ / 8e9 * share * static_cast<double>(duration_ns) * (1 + 0.01 * rng_.normal()));
    times.messages = times.bytes / 1000;
    return times;
  }

 private:
  double rate_bps_;
  stats::Rng rng_{7};
  std::int64_t now_ns_ = 0;
};

TEST(ObserveLatency, FindsTheMedianWithinItsInterval) {
  VirtualPath path(20'000);
  const auto seen = observe_latency(std::ref(path), {}, never);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->stop_reason, "converged");
  ASSERT_TRUE(seen->low_ns && seen->high_ns);
  EXPECT_LE(*seen->low_ns, 20'000);
  EXPECT_GE(*seen->high_ns, 20'000);
  EXPECT_NEAR(seen->median_ns, 20'000, 200);
}

TEST(ObserveLatency, KeepsEverySampleAfterTheCut) {
  VirtualPath path(50'000);
  const auto seen = observe_latency(std::ref(path), {}, never);
  ASSERT_TRUE(seen);
  EXPECT_EQ(static_cast<std::int64_t>(seen->histogram.count()) + seen->warmup_samples, path.done());
}

TEST(ObserveLatency, CutsASlowStart) {
  VirtualPath path(20'000);
  path.slow_operations = 2'000;
  path.slow_ns = 100'000;
  const auto seen = observe_latency(std::ref(path), {}, never);
  ASSERT_TRUE(seen);
  EXPECT_GE(seen->warmup_samples, 1'900);
  EXPECT_NEAR(seen->median_ns, 20'000, 300);
}

TEST(ObserveLatency, EndsByMaxTimeWhereOperationsAreSlow) {
  VirtualPath path(50'000'000);
  const auto seen = observe_latency(std::ref(path), {0, 1'000'000'000, 0.0001}, never);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->stop_reason, "max_time");
  EXPECT_LE(seen->measured_ns + seen->warmup_cut_ns, 3'000'000'000);
}

TEST(ObserveLatency, PassesOnTheErrorOfABatch) {
  const auto seen = observe_latency(
      [](std::int64_t, std::span<std::uint64_t>) -> Result<BatchTimes> {
        return fail("peer-closed", "gone");
      },
      {}, never);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().slug, "peer-closed");
}

TEST(ObserveLatency, EndsAsCancelledWhenInterrupted) {
  VirtualPath path(20'000);
  const auto seen = observe_latency(std::ref(path), {}, [] { return true; });
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->stop_reason, "cancelled");
}

TEST(ObserveStream, FindsTheRate) {
  VirtualReceiver receiver(10e9);
  const auto seen = observe_stream(std::ref(receiver), {}, never);
  ASSERT_TRUE(seen);
  EXPECT_NEAR(seen->goodput_bps, 10e9, 0.05e9);
  ASSERT_TRUE(seen->low_bps && seen->high_bps);
  EXPECT_LE(*seen->low_bps, seen->goodput_bps);
  EXPECT_GE(*seen->high_bps, seen->goodput_bps);
}

TEST(ObserveStream, MeasuresAtLeastHalfASecondAfterTheCut) {
  VirtualReceiver receiver(10e9);
  const auto seen = observe_stream(std::ref(receiver), {0, 1, 0.5}, never);
  ASSERT_TRUE(seen);
  EXPECT_GE(seen->measured_ns, 500'000'000);
  EXPECT_TRUE(observation_flags(*seen).empty());
}

TEST(ObserveStream, CutsTheRamp) {
  VirtualReceiver receiver(10e9);
  receiver.ramp_ns = 300'000'000;
  const auto seen = observe_stream(std::ref(receiver), {}, never);
  ASSERT_TRUE(seen);
  EXPECT_GE(seen->warmup_cut_ns, 200'000'000);
  EXPECT_NEAR(seen->goodput_bps, 10e9, 0.1e9);
}

TEST(ObserveStream, AccountsForEveryByteOfItsSeries) {
  VirtualReceiver receiver(1e9);
  const auto seen = observe_stream(std::ref(receiver), {}, never);
  ASSERT_TRUE(seen);
  std::int64_t kept = 0;
  for (const SeriesPoint& point : seen->series) {
    kept += point.end_ns > seen->warmup_cut_ns ? point.bytes : 0;
  }
  EXPECT_EQ(kept, seen->measured_bytes);
}

}  // namespace
}  // namespace netbench::measure
