#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"
#include "report/bounds/limits.hpp"
#include "report/diagnose/rule.hpp"

namespace netbench::report {

/// One rule's answer, for --explain.
struct Trace {
  std::string rule;  // id
  std::string class_id;
  std::string row;  // id of the measurement, "" for hosts and connection
  Verdict verdict;
};

/// A change of one thing that would decide between hypotheses, on one row.
struct Experiment {
  std::string id;      // "more-streams"
  std::string row;     // id of the measurement it varies
  std::string change;  // "4 streams instead of 1"
  ValueMap tunables;   // full names, as requested values
  std::int64_t size_bytes = 0;
};

struct RankedBounds {
  std::string row;
  std::vector<Bound> bounds;  // nearest first
};

struct Diagnosis {
  /// The verdict first: by confidence, then nearness. Never empty: a healthy document has one of
  /// level info that says so, and where nothing can be said, `unknown.…` says what to do next.
  std::vector<Finding> findings;
  std::vector<RankedBounds> bounds;
  std::vector<Trace> trace;
  /// What would decide, most telling first; empty where the verdict stands.
  std::vector<Experiment> experiments;
};

/// The id of the verdict on a document that has too little to go by.
inline constexpr std::string_view kTooLittle = "unknown.too-little";

/// Pure: the same document gives the same diagnosis. Parts of the document may be missing.
[[nodiscard]] Diagnosis diagnose(const Document& document);

}  // namespace netbench::report
