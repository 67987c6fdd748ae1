#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnose/rule.hpp"

namespace netbench::report {

/// A verdict that fires; see Verdict for the members.
[[nodiscard]] Verdict fires(Confidence confidence, double nearness, std::string why,
                            std::string cause, std::vector<std::string> remedy);

/// The same verdict at level info.
[[nodiscard]] Verdict milder(Verdict verdict);

using JudgeEnd = Verdict (*)(Look&, End);

/// Judges both ends: the nearest that fires; silent only where both are; else unknown. The reasons
/// of both are told.
[[nodiscard]] Verdict either_end(Look& look, JudgeEnd judge);

/// The same over any list of verdicts, in which an empty list is unknown for `what_is_missing`.
[[nodiscard]] Verdict nearest_of(const std::vector<Verdict>& verdicts,
                                 const std::string& what_is_missing);

/// What '*' stands for in the facts "<prefix>*<suffix>" of a host, in their order. Facts without a
/// value are left out, and those are left out whose '*' holds more than one name.
[[nodiscard]] std::vector<std::string> fact_names(const Look& look, End end,
                                                  std::string_view prefix, std::string_view suffix);

/// A set of counters that drivers name differently: those that begin with `prefix` ('*': the end's
/// interface) and hold `part`.
struct CounterPattern {
  std::string_view prefix;
  std::string_view part;
};

/// Their sum over the row.
struct CounterSum {
  bool read = false;  // the file they come from was read: a sum of 0 is a finding too
  double total = 0;
  std::string names;  // "rx_crc_errors 12, rx_symbol_err_phy 3"
};

/// Sums the counters that moved and cites them.
[[nodiscard]] CounterSum sum_counters(Look& look, End end,
                                      std::initializer_list<CounterPattern> patterns);

/// "nb-a's eth0".
[[nodiscard]] std::string device_of(const Look& look, End end);

/// The largest nearness of these bounds of the row that are known, or nothing.
[[nodiscard]] std::optional<double> nearest_bound(Look& look,
                                                  std::initializer_list<std::string_view> bounds);

}  // namespace netbench::report
