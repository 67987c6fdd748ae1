#include <gtest/gtest.h>

#include "report/diagnose/diagnose.hpp"
#include "report/diagnose/subjects.hpp"

namespace netbench::report {
namespace {

Measurement stream(std::string id, std::int64_t size, ValueMap requested = {}) {
  Measurement row;
  row.id = std::move(id);
  row.transport = "tcp";
  row.workload = "bandwidth";
  row.direction = Direction::forward;
  row.size_bytes = size;
  row.tunables.requested = std::move(requested);
  row.summary.goodput_bps = 9e9;
  return row;
}

TEST(Subjects, AreTheRowsClosestToWhatAUserWouldRun) {
  Document document;
  document.measurements = {stream("small", 64), stream("large", 1 << 20),
                           stream("tuned", 8 << 20, {{"tcp.rcvbuf", std::int64_t{4096}}}),
                           stream("auto", 1 << 19, {{"tcp.rcvbuf", std::string("auto")}})};
  const auto subjects = subjects_of(document);
  ASSERT_EQ(subjects.size(), 1u);
  EXPECT_EQ(subjects[0]->id, "large");
}

TEST(Subjects, LeaveOutRowsThatOnlySupportOthers) {
  Document document;
  document.measurements = {stream("both", 64), stream("failed", 64), stream("rate", 64)};
  document.measurements[0].direction = Direction::both;
  document.measurements[1].summary.goodput_bps.reset();
  document.measurements[2].workload = "message_rate";
  EXPECT_TRUE(subjects_of(document).empty());
}

std::string verdict_of(const Document& document) { return diagnose(document).findings.at(0).id; }

TEST(Verdict, OfAFullWireIsThatNothingIsBelowTheLink) {
  Document document;
  document.measurements = {stream("row", 65536)};
  document.measurements[0].summary.ceiling_bps = 9.4e9;
  EXPECT_EQ(verdict_of(document), "healthy.link-limited");
}

TEST(Verdict, OfAnUnusedWireIsUnknownWithWhatToDoNext) {
  Document document;
  document.measurements = {stream("row", 65536)};
  document.measurements[0].summary.ceiling_bps = 94e9;
  const Diagnosis diagnosis = diagnose(document);
  EXPECT_EQ(diagnosis.findings.at(0).id, "unknown.headroom");
  EXPECT_EQ(diagnosis.findings.at(0).severity, Severity::warning);
  EXPECT_FALSE(diagnosis.findings.at(0).remedy.empty());
}

TEST(Verdict, WithoutTheSpeedOfTheWireSaysSo) {
  Document document;
  document.measurements = {stream("row", 65536)};
  EXPECT_EQ(verdict_of(document), "healthy.wire-unknown");
}

TEST(Verdict, OfAnEmptyDocumentIsThatNothingCanBeTold) {
  EXPECT_EQ(verdict_of(Document{}), "unknown.too-little");
}

TEST(Verdict, IsTheSameForTheSameDocument) {
  Document document;
  document.measurements = {stream("row", 65536)};
  EXPECT_EQ(diagnose(document).findings, diagnose(document).findings);
}

}  // namespace
}  // namespace netbench::report
