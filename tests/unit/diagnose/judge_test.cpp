#include <gtest/gtest.h>

#include <algorithm>

#include "report/diagnose/diagnose.hpp"
#include "tests/unit/diagnose/lab_signature.hpp"

namespace netbench::report {
namespace {

using test::lab;
using test::row_of;
using test::RowBuilder;

RowBuilder small_window(double waited = 0) {
  RowBuilder row = row_of({.mbps = 46.3,
                           .srtt_us = 12'621,
                           .min_us = 10'193,
                           .rwnd = 0.99,
                           .notsent_bytes = 200e3,
                           .receiver_blocked = 0.99 - waited,
                           .receiver_wait = waited,
                           .window_bytes = 80'480});
  row.asked("tcp.rcvbuf", std::int64_t{65'536}).effective("tcp.rcvbuf", std::int64_t{131'072});
  return row;
}

Confidence confidence_of(const Document& document) {
  const Diagnosis diagnosis = diagnose(document);
  const auto found = std::ranges::find(diagnosis.findings, "W01", &Finding::class_id);
  EXPECT_NE(found, diagnosis.findings.end());
  return found == diagnosis.findings.end() ? Confidence::excluded : found->confidence;
}

bool says_busy(const Document& document) {
  const Diagnosis diagnosis = diagnose(document);
  return std::ranges::count(diagnosis.findings, "host.not-quiet", &Finding::id) == 1;
}

TEST(Judging, ConfirmsWhatAChangeOfOneThingMovedAsPredicted) {
  EXPECT_EQ(confidence_of(lab().row(small_window()).build()), Confidence::likely);
  const Document tried = lab().row(small_window()).moved("larger-rcvbuf", 3.6).build();
  EXPECT_EQ(confidence_of(tried), Confidence::confirmed);
  EXPECT_EQ(diagnose(tried).findings.front().class_id, "W01");
  EXPECT_TRUE(diagnose(tried).experiments.empty());
}

TEST(Judging, ExcludesWhatAChangeOfOneThingDidNotMove) {
  const Document tried = lab().row(small_window()).moved("larger-rcvbuf", 1.0).build();
  EXPECT_EQ(confidence_of(tried), Confidence::excluded);
  EXPECT_NE(diagnose(tried).findings.front().class_id, "W01");
}

TEST(Judging, AsksForTheExperimentThatTouchesTheCauseAlone) {
  const Diagnosis diagnosis = diagnose(lab().row(small_window()).build());
  ASSERT_FALSE(diagnosis.experiments.empty());
  EXPECT_EQ(diagnosis.experiments.front().id, "larger-rcvbuf");
}

TEST(Judging, IsLessSureWhereThreadsWaitedForACpu) {
  const Document busy = lab().row(small_window(0.1)).build();
  EXPECT_TRUE(says_busy(busy));
  EXPECT_EQ(confidence_of(busy), Confidence::possible);
  const Document quiet = lab().row(small_window(0.04)).build();
  EXPECT_FALSE(says_busy(quiet));
  EXPECT_EQ(confidence_of(quiet), Confidence::likely);
}

TEST(Judging, NeverConfirmsOnABusyMachine) {
  const Document tried = lab().row(small_window(0.1)).moved("larger-rcvbuf", 3.6).build();
  EXPECT_EQ(confidence_of(tried), Confidence::possible);
}

TEST(Judging, CountsOtherProgramsOnlyWhereTheWaitingIsNotKnown) {
  Document document = lab().row(small_window()).build();
  document.measurements[0].rounds[0].responder.foreign_cpu_s = 4;
  EXPECT_FALSE(says_busy(document));
  for (Round& round : document.measurements[0].rounds) {
    std::erase_if(round.responder.counters,
                  [](const auto& one) { return one.first == "recv.wait_s"; });
  }
  EXPECT_TRUE(says_busy(document));
}

}  // namespace
}  // namespace netbench::report
