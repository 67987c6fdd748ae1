#include "report/render/render.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "report/render/table.hpp"
#include "tests/golden/golden.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    longest = std::max(longest, display_width(line));
  }
  return longest;
}

TEST(RenderText, MatchesTheGoldenFiles) {
  const Document document = test::sample_document();
  test::expect_golden(render_text(document), "render/pair.txt");
  test::expect_golden(render_text(document, {.width = 80}), "render/pair-80.txt");
  test::expect_golden(render_text(document, {.width = 44}), "render/pair-44.txt");
  test::expect_golden(render_text(document, {.color = true}), "render/pair-color.txt");
  test::expect_golden(render_text(document, {.width = 160, .verbose = true}),
                      "render/pair-verbose.txt");
  test::expect_golden(render_text(test::failed_document()), "render/failed.txt");
}

TEST(RenderMarkdown, MatchesTheGoldenFile) {
  test::expect_golden(render_markdown(test::sample_document()), "render/pair.md");
}

TEST(RenderCsv, MatchesTheGoldenFile) {
  test::expect_golden(render_csv(test::sample_document()), "render/pair.csv");
}

TEST(RenderText, KeepsToTheWidth) {
  for (const int width : {60, 80, 100, 120, 200}) {
    EXPECT_LE(longest_line(render_text(test::sample_document(), {.width = width})),
              static_cast<std::size_t>(width));
  }
}

TEST(RenderText, HasNoControlCharactersUnlessColourIsAsked) {
  const std::string plain = render_text(test::sample_document());
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(test::sample_document(), {.color = true}).find('\x1b'), std::string::npos);
}

TEST(RenderText, TextsOfADocumentDoNotDriveTheTerminal) {
  Document document = test::sample_document();
  document.hosts.at("h1").name =
      "evil\x1b[2J\x7f\xC2\x9B"
      "31m\nhost";
  document.measurements[7].error->slug = "a\x1b]0;title\x07";
  document.measurements[4].tunables.notes = {"note\r\x1b[31m"};
  document.error = Error{"x", "gone\x1b[1m", "do\x1b[1m", ExitClass::error};
  for (const std::string& text :
       {render_text(document), render_markdown(document), render_text(document, {.width = 50})}) {
    for (const char c : text) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << int{c};
      EXPECT_NE(c, '\x7f');
    }
    EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);
  }
}

TEST(RenderText, ShowsFailedRowsWithTheirSlug) {
  const std::string text = render_text(test::sample_document());
  EXPECT_NE(text.find("failed: peer-vanished"), std::string::npos);
  EXPECT_NE(text.find("skipped: mtu-not-varied"), std::string::npos);
  EXPECT_NE(text.find("no data for 5 s"), std::string::npos);
}

TEST(RenderText, NamesTheSysctlOfACappedRowAndItsEffectiveSize) {
  const std::string text = render_text(test::sample_document());
  EXPECT_NE(text.find("16 MiB>8 MiB"), std::string::npos);
  EXPECT_NE(text.find("sysctl -w net.core.rmem_max=16777216"), std::string::npos);
}

TEST(RenderText, NeverShowsNanOrInfinity) {
  Document document = test::sample_document();
  for (Measurement& row : document.measurements) {
    row.summary.goodput_bps = std::nan("");
    row.summary.rtt_p50_ns = INFINITY;
    row.summary.messages_per_s = std::nan("");
    row.summary.ceiling_bps = 0;
    row.summary.jitter_ns = std::nan("");
  }
  for (const std::string& text : {render_text(document), render_markdown(document),
                                  render_csv(document), render_text(document, {.width = 50})}) {
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    EXPECT_EQ(text.find(" inf"), std::string::npos) << text;
  }
}

TEST(RenderText, SaysOneGigabyteASecondIsEightGigabits) {
  Document document = test::failed_document();
  document.measurements = {test::stream_row("x", 1 << 20, 8e9)};
  EXPECT_NE(render_text(document).find("8.000 [7.992-8.008]"), std::string::npos)
      << render_text(document);
}

TEST(RenderText, PicksTheUnitByTheGreatestRate) {
  Document document = test::failed_document();
  document.measurements = {test::stream_row("x", 1 << 20, 95.6e6)};
  const std::string text = render_text(document);
  EXPECT_NE(text.find("95.60 [95.50-95.70]"), std::string::npos) << text;
  EXPECT_NE(text.find("Mb/s"), std::string::npos);
}

TEST(RenderCsv, HasAsManyFieldsInEveryLine) {
  Document document = test::failed_document();
  document.measurements = {test::stream_row("a,\"b\"", 1, 1e9), test::latency_row("l", 1, 1e4)};
  std::istringstream lines(render_csv(document));
  std::size_t expected = 0;
  for (std::string line; std::getline(lines, line);) {
    bool quoted = false;
    std::size_t fields = 1;
    for (const char c : line) {
      quoted = c == '"' ? !quoted : quoted;
      fields += c == ',' && !quoted ? 1 : 0;
    }
    expected = expected == 0 ? fields : expected;
    EXPECT_EQ(fields, expected) << line;
  }
  EXPECT_GT(expected, 40U);
}

}  // namespace
}  // namespace netbench::report
