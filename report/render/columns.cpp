#include "report/render/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "bench/core/units.hpp"
#include "report/render/cells.hpp"
#include "report/render/format.hpp"

namespace netbench::report {

namespace {

using Rows = std::vector<const Measurement*>;

/// The largest unit in which the greatest value is at least one.
template <std::size_t N>
Scale fitting(const std::array<Scale, N>& scales, double value) {
  const auto* found =
      std::ranges::find_if(scales, [&](const Scale& scale) { return value >= scale.factor; });
  return found == scales.end() ? scales.back() : *found;
}

double greatest(const Rows& rows, std::optional<double> Summary::*member) {
  double most = 0;
  for (const Measurement* row : rows) {
    most = std::max(most, finite(row->summary.*member).value_or(0));
  }
  return most;
}

Scales scales_of(const Rows& rows) {
  constexpr std::array<Scale, 4> kRates{{{"Gb/s", 1e9}, {"Mb/s", 1e6}, {"kb/s", 1e3}, {"b/s", 1}}};
  constexpr std::array<Scale, 2> kTimes{{{"ms", 1e7}, {"us", 1e3}}};
  constexpr std::array<Scale, 3> kCounts{{{"M/s", 1e6}, {"k/s", 1e3}, {"1/s", 1}}};
  Scale time = fitting(kTimes, greatest(rows, &Summary::rtt_p50_ns));
  if (time.unit == "ms") {
    time.factor = 1e6;  // milliseconds only from 10 ms on
  }
  return {fitting(kRates, greatest(rows, &Summary::goodput_bps)), time,
          fitting(kCounts, greatest(rows, &Summary::messages_per_s))};
}

std::string_view unit_of(const ColumnSpec& spec, const Scales& scales) {
  switch (spec.quantity) {
    case Quantity::rate:
      return scales.rate.unit;
    case Quantity::time:
      return scales.time.unit;
    case Quantity::count:
      return scales.count.unit;
    case Quantity::none:
      break;
  }
  return spec.unit;
}

/// Names of the tunables that differ between the rows.
std::vector<std::string> varied_tunables(const Rows& rows) {
  std::map<std::string, std::set<Value>> values;
  for (const Measurement* row : rows) {
    for (const auto& [name, value] : row->tunables.requested) {
      values[name];
    }
  }
  std::vector<std::string> varied;
  for (auto& [name, seen] : values) {
    for (const Measurement* row : rows) {
      const auto found = row->tunables.requested.find(name);
      seen.insert(found == row->tunables.requested.end() ? Value{} : found->second);
    }
    if (seen.size() > 1) {
      varied.push_back(name);
    }
  }
  return varied;
}

std::optional<std::int64_t> effective_number(const ValueMap& map, const std::string& name) {
  const auto found = map.find(name);
  const auto* number = found == map.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

/// Requested value; of capped rows also the smallest effective one.
std::string tunable_cell(const Measurement& row, const std::string& name, bool verbose) {
  const auto found = row.tunables.requested.find(name);
  if (found == row.tunables.requested.end()) {
    return {};
  }
  std::string text = tunable_text(name, found->second);
  std::optional<std::int64_t> least;
  for (const ValueMap* map :
       {&row.tunables.effective_initiator, &row.tunables.effective_responder}) {
    const auto number = effective_number(*map, name);
    least = number && (!least || *number < *least) ? number : least;
  }
  const auto asked = effective_number(row.tunables.requested, name);
  const bool capped = row.flags.contains("capped") && least && asked && *least < 2 * *asked;
  if (least && (capped || verbose)) {
    text += fmt::format(">{}", tunable_text(name, *least));
  }
  return text;
}

Tone tone_of(const Measurement& row) {
  if (row.status == MeasurementStatus::failed) {
    return Tone::problem;
  }
  return row.status == MeasurementStatus::skipped || !row.flags.empty() ? Tone::warning
                                                                        : Tone::plain;
}

std::string short_name(const std::string& full_name) {
  return full_name.substr(full_name.find('.') + 1);
}

class TableBuilder {
 public:
  TableBuilder(const Rows& rows, bool verbose)
      : rows_(rows), verbose_(verbose), varied_(varied_tunables(rows)), scales_(scales_of(rows)) {}

  [[nodiscard]] Table build() {
    const Measurement& first = *rows_.front();
    table_.title = fmt::format("{} {}", first.transport, first.workload);
    table_.caption = caption();
    for (const Measurement* row : rows_) {
      table_.rows.push_back({{}, tone_of(*row)});
    }
    add_factors();
    for (const ColumnSpec& spec : result_columns()) {
      if ((spec.kinds & kind_of(first.workload)) != 0 && (verbose_ || !spec.verbose)) {
        add({std::string(spec.heading), std::string(unit_of(spec, scales_)),
             spec.heading == "stop" || spec.heading == "flags"},
            [&](const Measurement& row) { return spec.cell(row, scales_); });
      }
    }
    drop_empty_columns(table_);
    return std::move(table_);
  }

 private:
  template <class Cell>
  void add(TableColumn column, const Cell& cell) {
    table_.columns.push_back(std::move(column));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      table_.rows[i].cells.push_back(cell(*rows_[i]));
    }
  }

  void add_factors() {
    add({"size", "", false}, [](const Measurement& row) { return format_bytes(row.size_bytes); });
    add({"dir", "", true}, [](const Measurement& row) {
      return row.direction == Direction::none ? std::string() : to_string(row.direction);
    });
    add({"MTU", "B", false}, [](const Measurement& row) {
      return row.mtu_bytes == 0 ? std::string() : std::to_string(row.mtu_bytes);
    });
    for (const std::string& name : varied_) {
      add({short_name(name), "", false},
          [&](const Measurement& row) { return tunable_cell(row, name, verbose_); });
      const bool has_effective = std::ranges::any_of(table_.rows, [](const TableRow& row) {
        return row.cells.back().find('>') != std::string::npos;
      });
      table_.columns.back().unit = has_effective ? "asked>got" : "";
    }
  }

  [[nodiscard]] std::string caption() const {
    std::string method;
    double level = 0;
    for (const Measurement* row : rows_) {
      method = method.empty() ? row->method : method;
      level = row->summary.n_rounds > 0 ? row->summary.confidence_level : level;
    }
    if (level == 0) {
      return method;
    }
    return fmt::format("{}{}median of n rounds, {:g} % interval", method,
                       method.empty() ? "" : "; ", level * 100);
  }

  const Rows& rows_;
  bool verbose_;
  std::vector<std::string> varied_;
  Scales scales_;
  Table table_;
};

}  // namespace

std::vector<Table> result_tables(const Document& document, bool verbose) {
  std::vector<std::pair<std::string, Rows>> groups;
  for (const Measurement& row : document.measurements) {
    const std::string key = row.transport + " " + row.workload;
    auto found = std::ranges::find(groups, key, [](const auto& group) { return group.first; });
    if (found == groups.end()) {
      groups.emplace_back(key, Rows{});
      found = groups.end() - 1;
    }
    found->second.push_back(&row);
  }
  std::vector<Table> tables;
  for (const auto& [key, rows] : groups) {
    tables.push_back(TableBuilder(rows, verbose).build());
  }
  return tables;
}

}  // namespace netbench::report
