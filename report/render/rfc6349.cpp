#include "report/render/rfc6349.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/render/format.hpp"

namespace netbench::report {

namespace {

bool has_metrics(const Measurement& row) {
  const Summary& summary = row.summary;
  return row.transport == "tcp" &&
         (summary.transfer_time_ratio || summary.tcp_efficiency || summary.buffer_delay);
}

std::string cell(const std::optional<double>& value, double factor, int decimals) {
  const auto number = finite(value);
  return number ? fmt::format("{:.{}f}", *number * factor, decimals) : std::string("unknown");
}

TableRow row_of(const Measurement& row) {
  const Summary& summary = row.summary;
  return {{row.id, cell(summary.transfer_time_ratio, 1, 3), cell(summary.tcp_efficiency, 100, 3),
           cell(summary.buffer_delay, 100, 1), summary.rfc6349_note.value_or("")},
          Tone::plain};
}

/// What every row leaves unknown goes to the caption.
void fold_notes(Table& table) {
  const std::string& note = table.rows.front().cells.back();
  const bool same = std::ranges::all_of(
      table.rows, [&](const TableRow& row) { return row.cells.back() == note; });
  if (same && !note.empty()) {
    table.caption += "; " + note;
    for (TableRow& row : table.rows) {
      row.cells.pop_back();
    }
    table.columns.pop_back();
  }
}

}  // namespace

std::optional<Table> rfc6349_table(const Document& document) {
  Table table;
  table.title = "Method: RFC 6349";
  table.caption =
      "transfer time ratio: actual over ideal time at the wire's limit; TCP efficiency: bytes not "
      "sent again of those sent; buffer delay: round trip under load over its minimum; TCP_INFO of "
      "the sender, all rounds";
  table.columns = {{"row", "", true},
                   {"time ratio", "", false},
                   {"efficiency", "%", false},
                   {"buffer delay", "%", false},
                   {"note", "", true}};
  for (const Measurement& row : document.measurements) {
    if (has_metrics(row)) {
      table.rows.push_back(row_of(row));
    }
  }
  if (table.rows.empty()) {
    return std::nullopt;
  }
  fold_notes(table);
  drop_empty_columns(table);
  return table;
}

}  // namespace netbench::report
