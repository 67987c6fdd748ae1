#include "transports/udp/tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace netbench::udp {
namespace {

TEST(SequenceTracker, CountsAnUnbrokenRun) {
  SequenceTracker tracker;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(tracker.note(i), Fate::fresh);
  }
  EXPECT_EQ(tracker.unique(), 100'000u);
  EXPECT_EQ(tracker.expected(), 100'000u);
  EXPECT_EQ(tracker.reordered() + tracker.duplicates() + tracker.late(), 0u);
}

TEST(SequenceTracker, TellsReorderedFromDuplicated) {
  SequenceTracker tracker;
  EXPECT_EQ(tracker.note(1), Fate::fresh);
  EXPECT_EQ(tracker.note(0), Fate::reordered);
  EXPECT_EQ(tracker.note(0), Fate::duplicate);
  EXPECT_EQ(tracker.note(1), Fate::duplicate);
  EXPECT_EQ(tracker.note(5), Fate::fresh);
  EXPECT_EQ(tracker.note(3), Fate::reordered);
  EXPECT_EQ(tracker.expected(), 6u);
  EXPECT_EQ(tracker.unique(), 4u);
}

TEST(SequenceTracker, CallsLateWhatIsBehindTheWindow) {
  SequenceTracker tracker;
  tracker.note(0);
  tracker.note(2 * SequenceTracker::kWindow);
  EXPECT_EQ(tracker.note(1), Fate::late);
  EXPECT_EQ(tracker.note(0), Fate::late);
  EXPECT_EQ(tracker.unique(), 2u);
  EXPECT_EQ(tracker.late(), 2u);
}

TEST(SequenceTracker, ForgetsNothingInsideItsWindow) {
  constexpr std::uint64_t kSafe = SequenceTracker::kWindow - 64;
  for (std::uint64_t top = 0; top < 3 * SequenceTracker::kWindow; top += 61) {
    SequenceTracker tracker;
    tracker.note(top);
    const std::uint64_t lowest = top > kSafe ? top - kSafe : 0;
    for (std::uint64_t i = lowest; i < top; ++i) {
      ASSERT_EQ(tracker.note(i), Fate::reordered) << i << " after " << top;
    }
    for (std::uint64_t i = lowest; i <= top; ++i) {
      ASSERT_EQ(tracker.note(i), Fate::duplicate) << i << " after " << top;
    }
  }
}

TEST(SequenceTracker, JumpsOfAnyLengthLeaveNoStaleMarks) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    SequenceTracker tracker;
    std::uint64_t sequence = random() % 5000;
    tracker.note(sequence);
    for (int jump = 0; jump < 20; ++jump) {
      sequence += 1 + random() % (std::uint64_t{1} << (random() % 20));
      ASSERT_EQ(tracker.note(sequence), Fate::fresh);
      if (sequence > 0) {
        const Fate before = tracker.note(sequence - 1);
        ASSERT_NE(before, Fate::late);
      }
    }
    EXPECT_EQ(tracker.expected(), sequence + 1);
  }
}

/// A stream after a path that loses, duplicates and displaces by less than the window.
std::vector<std::uint64_t> through_bad_path(std::uint64_t count, std::mt19937_64& random) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arrivals;  // time, sequence
  for (std::uint64_t i = 0; i < count; ++i) {
    if (random() % 10 == 0) {
      continue;
    }
    arrivals.emplace_back(i + random() % 50, i);
    if (random() % 20 == 0) {
      arrivals.emplace_back(i + random() % 1000, i);
    }
  }
  std::ranges::stable_sort(arrivals, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
  std::vector<std::uint64_t> sequences;
  for (const auto& [time, sequence] : arrivals) {
    sequences.push_back(sequence);
  }
  return sequences;
}

TEST(SequenceTracker, AgreesWithASetOnRandomPaths) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    const auto sequences = through_bad_path(20'000, random);
    SequenceTracker tracker;
    std::set<std::uint64_t> seen;
    std::uint64_t reordered = 0;
    std::uint64_t duplicates = 0;
    for (const std::uint64_t sequence : sequences) {
      const bool behind = !seen.empty() && sequence < *seen.rbegin();
      const bool fresh = seen.insert(sequence).second;
      duplicates += fresh ? 0 : 1;
      reordered += fresh && behind ? 1 : 0;
      tracker.note(sequence);
    }
    EXPECT_EQ(tracker.unique(), seen.size());
    EXPECT_EQ(tracker.duplicates(), duplicates);
    EXPECT_EQ(tracker.reordered(), reordered);
    EXPECT_EQ(tracker.late(), 0u);
    EXPECT_EQ(tracker.expected(), *seen.rbegin() + 1);
    EXPECT_EQ(tracker.unique() + tracker.duplicates(), sequences.size());
  }
}

TEST(SplitLosses, AlwaysAddsUpToWhatWasSent) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t expected = random() % 1000;
    const std::uint64_t unique = expected == 0 ? 0 : random() % (expected + 1);
    const std::uint64_t drops = random() % 1200;
    const Losses losses = split_losses(expected, unique, drops);
    ASSERT_EQ(unique + losses.network + losses.socket, expected);
    ASSERT_LE(losses.socket, drops);
    ASSERT_EQ(losses.network, expected - unique > drops ? expected - unique - drops : 0);
  }
}

TEST(SplitLosses, BlamesNobodyWhereMoreArrivedThanWasTold) {
  const Losses losses = split_losses(5, 7, 3);
  EXPECT_EQ(losses.network, 0u);
  EXPECT_EQ(losses.socket, 0u);
}

TEST(Jitter, IsZeroOnASteadyPathWhateverTheClockOffset) {
  Jitter jitter;
  for (int i = 0; i < 100; ++i) {
    jitter.note(1'000'000'000'000 + i * 1000, i * 1000);
  }
  EXPECT_EQ(jitter.smoothed_ns(), 0.0);
  EXPECT_EQ(jitter.mean_ns(), 0.0);
}

TEST(Jitter, FollowsTheFormulaOfTheRfc) {
  Jitter jitter;
  jitter.note(100, 0);
  jitter.note(1116, 1000);  // transit 116, |D| 16
  EXPECT_DOUBLE_EQ(jitter.smoothed_ns(), 1.0);
  jitter.note(2100, 2000);  // transit 100, |D| 16
  EXPECT_DOUBLE_EQ(jitter.smoothed_ns(), 1.0 + 15.0 / 16);
  EXPECT_DOUBLE_EQ(jitter.mean_ns(), 16.0);
}

TEST(Jitter, ApproachesAConstantAlternation) {
  Jitter jitter;
  for (int i = 0; i < 500; ++i) {
    jitter.note(i * 1000 + (i % 2) * 200, i * 1000);
  }
  EXPECT_NEAR(jitter.smoothed_ns(), 200.0, 0.01);
}

}  // namespace
}  // namespace netbench::udp
