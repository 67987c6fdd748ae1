#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>

#include "report/document/document.hpp"
#include "report/document/redact.hpp"
#include "tests/unit/document/temporary_folder.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

constexpr int kNoJsonschema = 77;

int validate(const std::string& text) {
  const test::TemporaryFolder folder;
  test::write_text(folder.file("r.json"), text);
  const std::string command = "/usr/bin/python3 " NETBENCH_VALIDATOR " " + folder.file("r.json");
  return WEXITSTATUS(std::system(command.c_str()));
}

#define EXPECT_VALID(document)                               \
  do {                                                       \
    const int status = validate(document_text(document));    \
    if (status == kNoJsonschema) {                           \
      GTEST_SKIP() << "python3-jsonschema is not installed"; \
    }                                                        \
    EXPECT_EQ(status, 0);                                    \
  } while (false)

TEST(Schema, AcceptsARunWithEveryKindOfRow) { EXPECT_VALID(test::sample_document()); }

TEST(Schema, AcceptsARunThatFailed) { EXPECT_VALID(test::failed_document()); }

TEST(Schema, AcceptsARedactedDocument) { EXPECT_VALID(redact(test::sample_document())); }

TEST(Schema, AcceptsNumbersThatWereNotFinite) {
  Document document = test::sample_document();
  document.measurements[3].rounds[0].forward->goodput_bps = std::nan("");
  document.measurements[3].rounds[0].initiator.counters["tcp_info.rtt"] = INFINITY;
  document.measurements[3].summary.goodput_bps = std::nan("");
  EXPECT_VALID(document);
}

TEST(Schema, RefusesWhatItDoesNotKnow) {
  std::string text = document_text(test::failed_document());
  text.insert(1, "\"novelty\":1,");
  const int status = validate(text);
  if (status == kNoJsonschema) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(status, 1);
}

}  // namespace
}  // namespace netbench::report
