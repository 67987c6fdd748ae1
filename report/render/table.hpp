#pragma once

#include <string>
#include <vector>

namespace netbench::report {

enum class Tone { plain, strong, faint, warning, problem };

/// The text in a tone's ANSI colour, or as it is where `color` is false.
[[nodiscard]] std::string toned(const std::string& text, Tone tone, bool color);

struct TableColumn {
  std::string heading;
  std::string unit;  // second line of the heading; may be empty
  bool align_left = false;
};

struct TableRow {
  std::vector<std::string> cells;  // one a column
  Tone tone = Tone::plain;
};

/// Rows under headings. The last column may be as wide as it likes: it is wrapped at spaces.
struct Table {
  std::string title;
  std::string caption;  // method, and what is the same in all rows
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

/// Drops columns whose cells are all empty.
void drop_empty_columns(Table& table);

/// Lines of at most `width` columns: a table; where that does not fit, without the columns that say
/// the same in every row (they go to the caption); where that does not either, several tables below
/// each other with numbered rows; in the last resort one block a row.
[[nodiscard]] std::string table_text(Table table, int width, bool color);

/// GitHub-flavoured Markdown.
[[nodiscard]] std::string table_markdown(const Table& table);

/// Text with the characters escaped that Markdown would take for markup.
[[nodiscard]] std::string markdown_escaped(const std::string& text);

/// Number of terminal columns of UTF-8 text without wide characters.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The text with a space for each control character and each invisible one that turns the direction
/// of reading, and '?' for what is no UTF-8: texts of a document come from another host and must
/// not drive the terminal or read as something else.
[[nodiscard]] std::string printable(std::string_view text);

/// Breaks a printable() paragraph at spaces into lines of at most `width`, the second and further
/// ones indented. A longer word stands alone, except that a line never gets longer than the word
/// needs.
[[nodiscard]] std::string wrapped(std::string_view text, int width, int indent);

}  // namespace netbench::report
