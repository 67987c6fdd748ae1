#include "report/render/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace netbench::report {

namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kMinLastWidth = 18;

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return left ? text + fill : fill + text;
}

std::size_t column_width(const Table& table, std::size_t column) {
  const TableColumn& head = table.columns[column];
  std::size_t width = std::max(display_width(head.heading), display_width(head.unit));
  for (const TableRow& row : table.rows) {
    width = std::max(width, display_width(row.cells[column]));
  }
  return width;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

struct Layout {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  std::size_t last_start = 0;
};

Layout layout_of(const Table& table) {
  Layout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    layout.widths.push_back(column_width(table, i));
    layout.last_start = layout.total + kGap.size();
    layout.total += kGap.size() + layout.widths.back();
  }
  return layout;
}

/// Whether the table fits, the last column wrapped if need be.
bool fits(const Table& table, const Layout& layout, std::size_t width) {
  const std::size_t last = layout.widths.back();
  const bool left = table.columns.back().align_left;
  const std::size_t needed = left ? std::min(last, kMinLastWidth) : last;
  return layout.last_start + needed <= width;
}

template <class Text>
std::string line_of(const Table& table, const Layout& layout, const Text& text) {
  std::string line;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    line += kGap;
    line += padded(text(i), layout.widths[i], table.columns[i].align_left);
  }
  return without_trailing_spaces(std::move(line));
}

std::string grid(const Table& table, const Layout& layout, int width, bool color) {
  std::string text;
  const auto add = [&](const std::string& line, Tone tone) {
    text += toned(wrapped(line, width, static_cast<int>(layout.last_start)), tone, color) + "\n";
  };
  add(line_of(table, layout, [&](std::size_t i) { return table.columns[i].heading; }),
      Tone::strong);
  const std::string units =
      line_of(table, layout, [&](std::size_t i) { return table.columns[i].unit; });
  if (!units.empty()) {
    add(units, Tone::faint);
  }
  for (const TableRow& row : table.rows) {
    add(line_of(table, layout, [&](std::size_t i) { return row.cells[i]; }), row.tone);
  }
  return text;
}

std::string label_of(const TableColumn& column) {
  return column.unit.empty() ? column.heading : fmt::format("{} {}", column.heading, column.unit);
}

void erase_column(Table& table, std::size_t column) {
  const auto offset = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + offset);
  for (TableRow& row : table.rows) {
    row.cells.erase(row.cells.begin() + offset);
  }
}

/// Moves columns that say the same in every row to the caption; the first and last ones stay.
void fold_constant_columns(Table& table) {
  std::string folded;
  for (std::size_t i = table.columns.size() - 1; i-- > 1;) {
    const std::string value = table.rows.front().cells[i];
    const bool same =
        std::ranges::all_of(table.rows, [&](const TableRow& row) { return row.cells[i] == value; });
    if (same && !value.empty()) {
      folded = fmt::format("{} {}{}{}", label_of(table.columns[i]), value,
                           folded.empty() ? "" : ", ", folded);
      erase_column(table, i);
    }
  }
  if (!folded.empty()) {
    table.caption += fmt::format("{}all rows: {}", table.caption.empty() ? "" : "; ", folded);
  }
}

/// The table with the columns [begin, end) alone, the rows numbered.
Table numbered_part(const Table& table, std::size_t begin, std::size_t end) {
  const auto copy = [&](const auto& from, auto& to) {
    const auto at = [&](std::size_t i) { return from.begin() + static_cast<std::ptrdiff_t>(i); };
    to.insert(to.end(), at(begin), at(end));
  };
  Table part;
  part.columns = {{"#", "", false}};
  copy(table.columns, part.columns);
  for (const TableRow& row : table.rows) {
    part.rows.push_back({{std::to_string(part.rows.size() + 1)}, row.tone});
    copy(row.cells, part.rows.back().cells);
  }
  return part;
}

/// Tables below each other, each as wide as fits; nothing where a column alone is too wide.
std::string split_grids(const Table& table, int width, bool color) {
  const auto limit = static_cast<std::size_t>(width);
  std::string text;
  for (std::size_t begin = 0; begin < table.columns.size();) {
    std::size_t end = table.columns.size();
    Table part = numbered_part(table, begin, end);
    while (!fits(part, layout_of(part), limit) && end > begin + 1) {
      part = numbered_part(table, begin, --end);
    }
    const Layout layout = layout_of(part);
    if (!fits(part, layout, limit)) {
      return {};
    }
    text += (text.empty() ? "" : "\n") + grid(part, layout, width, color);
    begin = end;
  }
  return text;
}

std::string blocks(const Table& table, int width, bool color) {
  std::size_t label_width = 0;
  for (const TableColumn& column : table.columns) {
    label_width = std::max(label_width, display_width(label_of(column)));
  }
  label_width = std::min(label_width, static_cast<std::size_t>(std::max(width, 1)) / 2);
  std::string text;
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].empty()) {
        continue;
      }
      const std::string line =
          fmt::format("{}{}  {}", i == 0 ? "- " : "  ",
                      padded(label_of(table.columns[i]), label_width, true), row.cells[i]);
      text +=
          toned(wrapped(line, width, static_cast<int>(label_width) + 4), row.tone, color) + "\n";
    }
  }
  return text;
}

/// Where a line of at most `room` columns can end: the last space in it after some text, else the
/// first one beyond, else nowhere. The text does not end in spaces.
std::size_t break_point(std::string_view text, std::size_t room) {
  std::size_t cut = std::string_view::npos;
  for (std::size_t at = text.find(' ', text.find_first_not_of(' ')); at != std::string_view::npos;
       at = text.find(' ', at + 1)) {
    if (display_width(text.substr(0, at)) > room && cut != std::string_view::npos) {
      break;
    }
    cut = at;
  }
  return cut;
}

/// What drives a terminal or hides the order of what is read: C0, DEL and C1 controls, marks and
/// overrides of direction, separators and joiners without a width (Unicode, general categories Cc,
/// Cf, Zl and Zp).
constexpr std::array<std::pair<char32_t, char32_t>, 9> kHidden{{{0x00, 0x1f},
                                                                {0x7f, 0x9f},
                                                                {0xad, 0xad},
                                                                {0x61c, 0x61c},
                                                                {0x200b, 0x200f},
                                                                {0x2028, 0x202e},
                                                                {0x2060, 0x206f},
                                                                {0xfeff, 0xfeff},
                                                                {0xe0000, 0xe007f}}};
constexpr char32_t kInvalid = 0xffffffff;

struct CodePoint {
  char32_t value;
  std::size_t bytes;
};

/// The first code point of UTF-8 text (RFC 3629), or one byte that is none.
CodePoint first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) {
    return {lead, 1};
  }
  const std::size_t bytes = lead >= 0xf0U ? 4 : lead >= 0xe0U ? 3 : 2;
  if (lead < 0xc2U || lead > 0xf4U || text.size() < bytes) {
    return {kInvalid, 1};
  }
  char32_t value = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80U) {
      return {kInvalid, 1};
    }
    value = (value << 6U) | (byte & 0x3fU);
  }
  return {value, bytes};
}

}  // namespace

std::string toned(const std::string& text, Tone tone, bool color) {
  constexpr std::array<std::string_view, 5> kCodes{"", "1", "2", "33", "31"};
  const std::string_view code = kCodes.at(static_cast<std::size_t>(tone));
  return color && !code.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

void drop_empty_columns(Table& table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (std::ranges::all_of(table.rows,
                            [&](const TableRow& row) { return row.cells[i].empty(); })) {
      erase_column(table, i);
    }
  }
}

std::string table_text(Table table, int width, bool color) {
  const auto columns = static_cast<std::size_t>(std::max(width, 1));
  const bool empty = table.rows.empty() || table.columns.empty();
  bool is_wide = !empty && !fits(table, layout_of(table), columns);
  if (is_wide && table.rows.size() > 1) {
    fold_constant_columns(table);
    is_wide = !fits(table, layout_of(table), columns);
  }
  std::string text = toned(wrapped(table.title, width, 2), Tone::strong, color) + "\n";
  if (!table.caption.empty()) {
    text += toned(wrapped("  " + table.caption, width, 2), Tone::faint, color) + "\n";
  }
  if (empty) {
    return text;
  }
  if (!is_wide) {
    return text + grid(table, layout_of(table), width, color);
  }
  const std::string grids =
      table.rows.size() > 1 ? split_grids(table, width, color) : std::string();
  return text + (grids.empty() ? blocks(table, width, color) : grids);
}

std::string markdown_escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '|' || c == '*' || c == '_' || c == '<') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string table_markdown(const Table& table) {
  std::string text = fmt::format("### {}\n\n", table.title);
  if (!table.caption.empty()) {
    text += markdown_escaped(table.caption) + "\n\n";
  }
  std::string rule = "|";
  text += "|";
  for (const TableColumn& column : table.columns) {
    text += fmt::format(" {}{}{} |", markdown_escaped(column.heading),
                        column.unit.empty() ? "" : ", ", markdown_escaped(column.unit));
    rule += column.align_left ? ":---|" : "---:|";
  }
  text += "\n" + rule + "\n";
  for (const TableRow& row : table.rows) {
    text += "|";
    for (const std::string& cell : row.cells) {
      text += fmt::format(" {} |", markdown_escaped(cell));
    }
    text += "\n";
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_of(text);
    const bool hidden = std::ranges::any_of(kHidden, [&](const auto& range) {
      return first.value >= range.first && first.value <= range.second;
    });
    if (first.value == kInvalid) {
      result += '?';
    } else if (hidden) {
      result += ' ';
    } else {
      result += text.substr(0, first.bytes);
    }
    text.remove_prefix(first.bytes);
  }
  return result;
}

std::string wrapped(std::string_view paragraph, int width, int indent) {
  const std::string clean = printable(paragraph);
  std::string_view text = clean;
  const auto margin = static_cast<std::size_t>(std::max(indent, 0));
  std::size_t room = static_cast<std::size_t>(std::max(width, 1));
  std::string result;
  while (display_width(text) > room) {
    const std::size_t cut = break_point(text, room);
    if (cut == std::string_view::npos) {
      break;
    }
    const std::string_view line = text.substr(0, text.find_last_not_of(' ', cut) + 1);
    result += fmt::format("{}\n{}", line, std::string(margin, ' '));
    text.remove_prefix(text.find_first_not_of(' ', cut));
    room = static_cast<std::size_t>(std::max(width - indent, 1));
  }
  return result + std::string(text);
}

}  // namespace netbench::report
