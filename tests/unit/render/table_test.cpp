#include "report/render/table.hpp"

#include <gtest/gtest.h>

namespace netbench::report {
namespace {

Table small_table() {
  return {.title = "tcp bandwidth",
          .caption = "median of rounds",
          .columns = {{"size", "", false},
                      {"n", "", false},
                      {"goodput", "Gb/s", false},
                      {"flags", "", true}},
          .rows = {{{"64 KiB", "5", "9.1", ""}, Tone::plain},
                   {{"1 MiB", "5", "9.412", "capped"}, Tone::warning}}};
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(table_text(small_table(), 80, false),
            "tcp bandwidth\n"
            "  median of rounds\n"
            "    size  n  goodput  flags\n"
            "                Gb/s\n"
            "  64 KiB  5      9.1\n"
            "   1 MiB  5    9.412  capped\n");
}

TEST(Table, FoldsWhatIsTheSameInAllRowsWhenItIsTooWide) {
  EXPECT_EQ(table_text(small_table(), 27, false),
            "tcp bandwidth\n"
            "  median of rounds; all\n"
            "  rows: n 5\n"
            "    size  goodput  flags\n"
            "             Gb/s\n"
            "  64 KiB      9.1\n"
            "   1 MiB    9.412  capped\n");
}

TEST(Table, SplitsIntoTablesWithNumberedRows) {
  EXPECT_EQ(table_text(small_table(), 22, false),
            "tcp bandwidth\n"
            "  median of rounds;\n"
            "  all rows: n 5\n"
            "  #    size  goodput\n"
            "                Gb/s\n"
            "  1  64 KiB      9.1\n"
            "  2   1 MiB    9.412\n"
            "\n"
            "  #  flags\n"
            "  1\n"
            "  2  capped\n");
}

TEST(Table, BecomesOneBlockARowWhereNothingFits) {
  Table table = small_table();
  table.columns[2].unit = "Gb/s of all the payload";
  EXPECT_EQ(table_text(table, 26, false),
            "tcp bandwidth\n"
            "  median of rounds; all\n"
            "  rows: n 5\n"
            "- size           64 KiB\n"
            "  goodput Gb/s of all the\n"
            "                 payload\n"
            "                 9.1\n"
            "- size           1 MiB\n"
            "  goodput Gb/s of all the\n"
            "                 payload\n"
            "                 9.412\n"
            "  flags          capped\n");
}

TEST(Table, DropsEmptyColumns) {
  Table table = small_table();
  table.rows[1].cells[3] = "";
  drop_empty_columns(table);
  EXPECT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.rows[0].cells.size(), 3U);
}

TEST(Table, ColoursRowsByTone) {
  const std::string text = table_text(small_table(), 80, true);
  EXPECT_NE(text.find("\x1b[33m   1 MiB  5    9.412  capped\x1b[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[1mtcp bandwidth\x1b[0m"), std::string::npos);
}

TEST(Table, MarkdownEscapesItsMarkup) {
  Table table = small_table();
  table.rows[0].cells[3] = "a|b_c";
  EXPECT_EQ(table_markdown(table),
            "### tcp bandwidth\n\n"
            "median of rounds\n\n"
            "| size | n | goodput, Gb/s | flags |\n"
            "|---:|---:|---:|:---|\n"
            "| 64 KiB | 5 | 9.1 | a\\|b\\_c |\n"
            "| 1 MiB | 5 | 9.412 | capped |\n");
}

TEST(Wrapped, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(wrapped("- one two three four", 10, 2), "- one two\n  three\n  four");
  EXPECT_EQ(wrapped("short", 10, 2), "short");
  EXPECT_EQ(wrapped("unbreakable-word", 5, 2), "unbreakable-word");
  EXPECT_EQ(wrapped("- \xC3\xA4\xC3\xA4\xC3\xA4 x", 7, 2), "- \xC3\xA4\xC3\xA4\xC3\xA4 x");
}

TEST(Wrapped, EndsWhateverTheWidth) {
  for (int width = -1; width < 30; ++width) {
    EXPECT_FALSE(wrapped("  a bb ccc dddd  eeeee", width, 4).empty());
  }
}

TEST(Printable, HidesWhatDrivesATerminalOrTurnsTheDirectionOfReading) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\n"), "a [2J  ");
  EXPECT_EQ(printable("eth0\u202etxt.exe\u2066\u200b\ufeff"), "eth0 txt.exe   ");
  EXPECT_EQ(printable("\xc2\x9b"), " ");
}

TEST(Printable, KeepsTextAndMarksWhatIsNoText) {
  EXPECT_EQ(printable("Zürich, 10 µs … 1 Gb/s"), "Zürich, 10 µs … 1 Gb/s");
  EXPECT_EQ(printable("a\xff\xc3"), "a??");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace netbench::report
