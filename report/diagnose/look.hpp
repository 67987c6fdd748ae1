#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"
#include "report/bounds/limits.hpp"

namespace netbench::report {

/// The ends of a row by what they do with its payload. Without a row, and for rows with traffic
/// both ways: sender is the initiator (h0), receiver the responder (h1).
enum class End { sender, receiver };
inline constexpr std::array<End, 2> kEnds = {End::sender, End::receiver};

/// What a rule sees of a document: the hosts, and one row where its scope has rows. Every question
/// is noted: what was found becomes the evidence of the finding (JSON pointers), what was not
/// becomes `not_evaluated`. Units are those of the keys' suffixes. [one thread at a time]
class Look {
 public:
  /// `row` may be null. The document must outlive the Look.
  Look(const Document& document, const Measurement* row, std::span<const Bound> bounds);

  [[nodiscard]] const Document& document() const { return document_; }
  [[nodiscard]] const Measurement* row() const { return row_; }
  /// Null where the document has no such host.
  [[nodiscard]] const HostInfo* host(End end) const;
  /// "h0" or "h1" with the host's name, for texts: "nb-a".
  [[nodiscard]] std::string host_name(End end) const;
  /// Interface of the test traffic, "" where unknown.
  [[nodiscard]] std::string interface(End end) const;

  /// A fact; "if.*.mtu_bytes": '*' stands for the end's interface. Numbers and booleans (0, 1).
  std::optional<double> fact(End end, std::string_view key);
  std::optional<std::string> fact_text(End end, std::string_view key);

  /// A counter of the row, summed over its rounds (differences), or the median of its rounds (for
  /// gauges). A counter that did not move is left out of documents: where the file it comes from
  /// was read (its family has other members), its total is 0.
  std::optional<double> total(End end, std::string_view key);
  std::optional<double> typical(End end, std::string_view key);
  std::optional<double> largest(End end, std::string_view key);
  /// Keys that begin so, with their totals: "cpu." and the like.
  std::map<std::string, double> totals_below(End end, std::string_view prefix);

  /// Seconds that the row's rounds lasted at this end, together.
  std::optional<double> elapsed_s(End end);
  /// total(numerator) / total(denominator); nothing where the denominator is not above 0.
  std::optional<double> ratio(End end, std::string_view numerator, std::string_view denominator);

  /// CPU time that others took at this end during the row, as shares of its time: 1 is one CPU.
  struct Taken {
    double by_hypervisor = 0;
    double by_other_programs = 0;
  };
  [[nodiscard]] Taken taken_cpu(End end) const;

  /// The effective value of a tunable at an end, and whether it was asked for ("auto" was not).
  std::optional<double> setting(End end, std::string_view name);
  std::optional<std::string> setting_text(End end, std::string_view name);
  [[nodiscard]] bool asked_for(std::string_view name) const;

  /// Median goodput of the row.
  std::optional<double> goodput_bps();
  /// A bound of the row by its id, where it could be computed.
  [[nodiscard]] const Bound* bound(std::string_view id);
  /// measured / bound.
  std::optional<double> nearness(std::string_view id);

  /// What an intervention on this row moved (its ratio of goodput or of latency), if it was run.
  [[nodiscard]] const Intervention* moved(std::string_view experiment);
  /// Goodput of the row that differs in this one tunable (or "size") alone, over this row's.
  std::optional<double> sibling_ratio(std::string_view tunable, const Value& value);

  /// Notes something used outside these calls, as a pointer ("/error/code").
  void cite(std::string pointer);
  /// Notes something that would have helped.
  void lack(std::string what);

  [[nodiscard]] const std::vector<std::string>& evidence() const { return evidence_; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Reading {
    double value = 0;
    std::string pointer;  // "" where a counter that did not move was left out
  };

  [[nodiscard]] std::string host_key(End end) const;
  [[nodiscard]] std::string named(End end, std::string_view key) const;
  const Fact* known_fact(End end, std::string_view key);
  const Value* known_setting(End end, std::string_view name);
  std::vector<Reading> readings(End end, std::string_view key);
  void cite_largest(const std::vector<Reading>& readings);

  const Document& document_;
  const Measurement* row_;
  std::size_t row_index_ = 0;
  std::span<const Bound> bounds_;
  std::vector<std::string> evidence_;
  std::vector<std::string> missing_;
};

/// Whether a tunable was given for this row, other than as "auto".
[[nodiscard]] bool is_asked_for(const Measurement& row, std::string_view name);

/// Whether `other` has the tunable (or "size") at `value` and is like `row` in all else.
[[nodiscard]] bool differs_only_in(const Measurement& row, const Measurement& other,
                                   std::string_view tunable, const Value& value);

}  // namespace netbench::report
