#include "bench/measure/row_notes.hpp"

#include <gtest/gtest.h>

namespace netbench::measure {
namespace {

Measurement row_with(const Counters& counters, std::size_t rounds = 2) {
  Measurement row;
  for (std::size_t i = 0; i < rounds; ++i) {
    Round round;
    round.duration_ns = 1'000'000'000;
    round.initiator.counters = counters;
    row.rounds.push_back(round);
  }
  return row;
}

TEST(RowNotes, TellTheShareOfZerocopySendsThatWereCopied) {
  Measurement row = row_with({{"zerocopy.completions", 200}, {"zerocopy.copied", 50}});
  note_counters(row);
  ASSERT_EQ(row.tunables.notes.size(), 1U);
  EXPECT_EQ(row.tunables.notes.front(),
            "zerocopy: the kernel copied 25 % of the sends all the same (100 of 400)");
}

TEST(RowNotes, TellHowLongAPacedSenderWasBehind) {
  Measurement row = row_with({{"udp.pacing_lost_ns", 250e6}});
  note_counters(row);
  ASSERT_EQ(row.tunables.notes.size(), 1U);
  EXPECT_NE(row.tunables.notes.front().find("behind its rate for 25 % of the time"),
            std::string::npos);
}

TEST(RowNotes, LeaveOutASenderThatKeptItsRate) {
  Measurement row = row_with({{"udp.pacing_lost_ns", 1e6}});
  note_counters(row);
  EXPECT_TRUE(row.tunables.notes.empty());
}

TEST(RowNotes, ReplaceThoseOfAnEarlierCallAndKeepTheOthers) {
  Measurement row = row_with({{"zerocopy.completions", 4}, {"zerocopy.copied", 4}}, 1);
  row.tunables.notes = {"initiator: tcp.mss: capped"};
  note_counters(row);
  row.rounds.push_back(row.rounds.front());
  note_counters(row);
  ASSERT_EQ(row.tunables.notes.size(), 2U);
  EXPECT_EQ(row.tunables.notes.front(), "initiator: tcp.mss: capped");
  EXPECT_NE(row.tunables.notes.back().find("(8 of 8)"), std::string::npos);
}

}  // namespace
}  // namespace netbench::measure
