#include "report/bounds/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace netbench::report {

namespace {

/// A member's name in a JSON pointer (RFC 6901, section 3).
std::string escaped(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    text += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  }
  return text;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::size_t index_of(const Document& document, const Measurement& row) {
  const auto found = std::ranges::find(document.measurements, row.id, &Measurement::id);
  return found == document.measurements.end()
             ? 0
             : static_cast<std::size_t>(found - document.measurements.begin());
}

}  // namespace

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* fraction = std::get_if<double>(&value)) {
    return std::isfinite(*fraction) ? std::optional(*fraction) : std::nullopt;
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? 1.0 : 0.0;
  }
  return std::nullopt;
}

RowReader::RowReader(const Document& document, const Measurement& row)
    : document_(document), row_(row), index_(index_of(document, row)) {}

std::string RowReader::host_key(Role role) const {
  return (role == Role::sender) != (row_.direction == Direction::reverse) ? "h0" : "h1";
}

const HostInfo* RowReader::host(Role role) const {
  const auto found = document_.hosts.find(host_key(role));
  return found == document_.hosts.end() ? nullptr : &found->second;
}

double RowReader::streams() const {
  const auto found = row_.tunables.effective_initiator.find(row_.transport + ".streams");
  const auto number =
      found == row_.tunables.effective_initiator.end() ? std::nullopt : number_of(found->second);
  return std::max(1.0, number.value_or(1));
}

std::optional<double> RowReader::measured_bps() const {
  const auto goodput = row_.summary.goodput_bps;
  return goodput && *goodput > 0 ? goodput : std::nullopt;
}

const EndRecord& RowReader::end_of(const Round& round, Role role) const {
  return host_key(role) == "h0" ? round.initiator : round.responder;
}

std::vector<double> RowReader::values(Role role, std::string_view key) {
  const std::string name(key);
  std::vector<double> found;
  for (std::size_t i = 0; i < row_.rounds.size(); ++i) {
    const Counters& counters = end_of(row_.rounds[i], role).counters;
    const auto at = counters.find(name);
    if (at == counters.end() || !std::isfinite(at->second)) {
      continue;
    }
    if (found.empty()) {
      cite(fmt::format("/measurements/{}/rounds/{}/counters/{}/{}", index_, i,
                       host_key(role) == "h0" ? "initiator" : "responder", escaped(name)));
    }
    found.push_back(at->second);
  }
  return found;
}

std::optional<double> RowReader::total(Role role, std::string_view key) {
  const auto found = values(role, key);
  return found.empty() ? std::nullopt
                       : std::optional(std::accumulate(found.begin(), found.end(), 0.0));
}

std::optional<double> RowReader::typical(Role role, std::string_view key) {
  auto found = values(role, key);
  return found.empty() ? std::nullopt : std::optional(median_of(std::move(found)));
}

std::optional<double> RowReader::largest(Role role, std::string_view key) {
  const auto found = values(role, key);
  return found.empty() ? std::nullopt : std::optional(std::ranges::max(found));
}

std::optional<double> RowReader::smallest(Role role, std::string_view key) {
  const auto found = values(role, key);
  return found.empty() ? std::nullopt : std::optional(std::ranges::min(found));
}

std::optional<double> RowReader::ratio(Role role, std::string_view numerator,
                                       std::string_view denominator) {
  const auto over = total(role, numerator);
  const auto under = total(role, denominator);
  return over && under && *under > 0 ? std::optional(*over / *under) : std::nullopt;
}

std::optional<double> RowReader::elapsed_s(Role role) const {
  double sum = 0;
  for (const Round& round : row_.rounds) {
    const double own = end_of(round, role).elapsed_s;
    sum += own > 0 ? own : static_cast<double>(round.duration_ns) * 1e-9;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::optional<RowReader::Named> RowReader::busiest(Role role, std::string_view prefix,
                                                   std::string_view suffix) {
  std::map<std::string, double> sums;
  for (const Round& round : row_.rounds) {
    for (const auto& [key, value] : end_of(round, role).counters) {
      if (key.size() > prefix.size() + suffix.size() && key.starts_with(prefix) &&
          key.ends_with(suffix)) {
        sums[key] += value;
      }
    }
  }
  const auto most =
      std::ranges::max_element(sums, {}, &std::pair<const std::string, double>::second);
  if (most == sums.end()) {
    return std::nullopt;
  }
  static_cast<void>(total(role, most->first));  // cites it
  return Named{most->first, most->second};
}

const Value* RowReader::known_setting(Role role, const std::string& name) {
  const bool initiator = host_key(role) == "h0";
  const ValueMap& map =
      initiator ? row_.tunables.effective_initiator : row_.tunables.effective_responder;
  const auto found = map.find(name);
  if (found == map.end()) {
    return nullptr;
  }
  cite(fmt::format("/measurements/{}/tunables/effective/{}/{}", index_,
                   initiator ? "initiator" : "responder", escaped(name)));
  return &found->second;
}

std::optional<double> RowReader::setting(Role role, const std::string& name) {
  const Value* value = known_setting(role, name);
  return value == nullptr ? std::nullopt : number_of(*value);
}

std::optional<std::string> RowReader::setting_text(Role role, const std::string& name) {
  const Value* value = known_setting(role, name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

bool RowReader::asked_for(const std::string& name) const {
  const auto found = row_.tunables.requested.find(name);
  if (found == row_.tunables.requested.end()) {
    return false;
  }
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr || *text != "auto";
}

const Fact* RowReader::known_fact(Role role, std::string_view key) {
  const HostInfo* info = host(role);
  const Fact* fact = info == nullptr ? nullptr : find_fact(*info, key);
  if (fact == nullptr || std::holds_alternative<std::monostate>(fact->value)) {
    return nullptr;
  }
  cite(fmt::format("/hosts/{}/facts/{}", host_key(role), fact - info->facts.data()));
  return fact;
}

std::optional<double> RowReader::fact(Role role, std::string_view key) {
  const Fact* found = known_fact(role, key);
  return found == nullptr ? std::nullopt : number_of(found->value);
}

std::optional<std::string> RowReader::fact_text(Role role, std::string_view key) {
  const Fact* found = known_fact(role, key);
  const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

void RowReader::cite(std::string pointer) {
  if (std::ranges::find(evidence_, pointer) == evidence_.end()) {
    evidence_.push_back(std::move(pointer));
  }
}

std::vector<std::string> RowReader::take_evidence() { return std::exchange(evidence_, {}); }

}  // namespace netbench::report
