#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// Who sends a row's payload and who receives it.
enum class Role { sender, receiver };

/// Reads what bounds need of one row and its hosts, and remembers where it stood (JSON pointers).
/// Both must outlive it. [one thread at a time]
class RowReader {
 public:
  RowReader(const Document& document, const Measurement& row);

  [[nodiscard]] const Measurement& row() const { return row_; }
  [[nodiscard]] const Document& document() const { return document_; }
  /// "h0" or "h1".
  [[nodiscard]] std::string host_key(Role role) const;
  /// Null where the document has no such host.
  [[nodiscard]] const HostInfo* host(Role role) const;
  /// Connections or sockets at once, at least 1.
  [[nodiscard]] double streams() const;
  /// Goodput of the row; nothing where it is not above 0.
  [[nodiscard]] std::optional<double> measured_bps() const;

  /// A counter over the rounds that have it: sum, median, extremes.
  std::optional<double> total(Role role, std::string_view key);
  std::optional<double> typical(Role role, std::string_view key);
  std::optional<double> largest(Role role, std::string_view key);
  std::optional<double> smallest(Role role, std::string_view key);
  /// total / total; nothing where the denominator is not above 0.
  std::optional<double> ratio(Role role, std::string_view numerator, std::string_view denominator);
  /// Seconds of all rounds at that end.
  std::optional<double> elapsed_s(Role role) const;
  /// The largest sum over the rounds among counters "<prefix>…<suffix>", and its key.
  struct Named {
    std::string key;
    double value = 0;
  };
  std::optional<Named> busiest(Role role, std::string_view prefix, std::string_view suffix);

  /// The effective value of a tunable at that end.
  std::optional<double> setting(Role role, const std::string& name);
  std::optional<std::string> setting_text(Role role, const std::string& name);
  [[nodiscard]] bool asked_for(const std::string& name) const;
  /// A fact; nothing where it is unknown.
  std::optional<double> fact(Role role, std::string_view key);
  std::optional<std::string> fact_text(Role role, std::string_view key);

  void cite(std::string pointer);
  /// Pointers since the last call.
  [[nodiscard]] std::vector<std::string> take_evidence();

 private:
  [[nodiscard]] const EndRecord& end_of(const Round& round, Role role) const;
  std::vector<double> values(Role role, std::string_view key);
  const Value* known_setting(Role role, const std::string& name);
  const Fact* known_fact(Role role, std::string_view key);

  const Document& document_;
  const Measurement& row_;
  std::size_t index_ = 0;
  std::vector<std::string> evidence_;
};

/// Whole numbers, fractions and flags (0, 1) as a number.
[[nodiscard]] std::optional<double> number_of(const Value& value);

}  // namespace netbench::report
