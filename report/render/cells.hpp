#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/model/measurement.hpp"

namespace netbench::report {

/// Which columns a workload has; a bit each.
enum Kind : unsigned { kStream = 1, kLatency = 2, kRate = 4, kConnect = 8, kAll = 15 };

/// A unit of a column, chosen once a table.
struct Scale {
  std::string_view unit;
  double factor = 1;  // base units in one of it
};

struct Scales {
  Scale rate{"Gb/s", 1e9};
  Scale time{"us", 1e3};
  Scale count{"1/s", 1};
};

enum class Quantity { rate, time, count, none };

struct ColumnSpec {
  std::string_view heading;
  Quantity quantity;
  std::string_view unit;  // where quantity is none
  unsigned kinds;
  bool verbose;
  std::string (*cell)(const Measurement&, const Scales&);
};

/// All columns after the factors (size, direction, MTU, tunables), in their order.
[[nodiscard]] std::span<const ColumnSpec> result_columns();

/// The columns of that workload: bits of Kind; all of them for one that is not known here.
[[nodiscard]] unsigned kind_of(const std::string& workload);

}  // namespace netbench::report
