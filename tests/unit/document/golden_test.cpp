#include "tests/golden/golden.hpp"

#include "report/document/document.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

TEST(GoldenDocument, IsWrittenAsBefore) {
  test::expect_golden(document_text(test::sample_document()), "document/pair-1.1.json");
}

/// Holds for ever, whatever the current version: old documents stay readable.
TEST(GoldenDocument, OfVersion1IsRead) {
  const Result<Document> document =
      read_document(std::string(NETBENCH_GOLDEN_FOLDER) + "/document/pair-1.0.json");
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->measurements.size(), 12U);
  EXPECT_EQ(document->measurements[3].summary.goodput_bps, 9.412e9);
  EXPECT_EQ(document->measurements[7].error->slug, "peer-vanished");
}

TEST(GoldenDocument, OfVersion1Point1IsRead) {
  const Result<Document> document =
      read_document(std::string(NETBENCH_GOLDEN_FOLDER) + "/document/pair-1.1.json");
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->interventions.size(), 1U);
  EXPECT_EQ(document->measurements[3].summary.tcp_efficiency, 0.9985);
}

}  // namespace
}  // namespace netbench::report
