#include "report/diagnose/look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace netbench::report {

namespace {

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* fraction = std::get_if<double>(&value)) {
    return *fraction;
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? 1.0 : 0.0;
  }
  return std::nullopt;
}

/// A member's name in a JSON pointer (RFC 6901, section 3).
std::string escaped(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    text += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  }
  return text;
}

/// The file that a counter comes from: other members show that it was read. Differences of 0 are
/// left out of documents.
std::string_view family_of(std::string_view key) {
  constexpr std::array<std::string_view, 3> kDeep = {"snmp.", "if.", "qdisc."};
  const bool deep =
      std::ranges::any_of(kDeep, [&](auto prefix) { return key.starts_with(prefix); });
  const auto first = key.find('.');
  const auto cut = deep && first != std::string_view::npos ? key.find('.', first + 1) : first;
  return cut == std::string_view::npos ? key : key.substr(0, cut + 1);
}

bool has_family(const Counters& counters, std::string_view prefix) {
  const auto found = counters.lower_bound(std::string(prefix));
  return found != counters.end() && found->first.starts_with(prefix);
}

/// Families whose members are always written, a 0 too: absence means unknown there.
bool writes_zero(std::string_view key) {
  constexpr std::array<std::string_view, 8> kWritten = {
      "tcp_info.", "tcp_info_max.", "tcp_info_min.", "send.", "recv.", "sock.", "udp.", "payload."};
  return std::ranges::any_of(kWritten, [&](auto prefix) { return key.starts_with(prefix); });
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Look::Look(const Document& document, const Measurement* row, std::span<const Bound> bounds)
    : document_(document), row_(row), bounds_(bounds) {
  const auto& rows = document.measurements;
  if (row != nullptr && !rows.empty() && row >= rows.data() && row < rows.data() + rows.size()) {
    row_index_ = static_cast<std::size_t>(row - rows.data());
  }
}

std::string Look::host_key(End end) const {
  const bool reversed = row_ != nullptr && row_->direction == Direction::reverse;
  return (end == End::sender) != reversed ? "h0" : "h1";
}

const HostInfo* Look::host(End end) const {
  const auto found = document_.hosts.find(host_key(end));
  return found == document_.hosts.end() ? nullptr : &found->second;
}

std::string Look::host_name(End end) const {
  const HostInfo* info = host(end);
  return info == nullptr || info->name.empty() ? host_key(end) : info->name;
}

std::string Look::interface(End end) const {
  const HostInfo* info = host(end);
  return info == nullptr ? std::string{} : info->interface;
}

std::string Look::named(End end, std::string_view key) const {
  std::string name(key);
  if (const auto star = name.find('*'); star != std::string::npos) {
    const std::string known = interface(end);
    name.replace(star, 1, known.empty() ? "(unknown interface)" : known);
  }
  return name;
}

const Fact* Look::known_fact(End end, std::string_view key) {
  const HostInfo* info = host(end);
  const std::string name = named(end, key);
  const Fact* fact = info == nullptr ? nullptr : find_fact(*info, name);
  if (fact == nullptr || std::holds_alternative<std::monostate>(fact->value)) {
    lack(fmt::format("{} of {}{}", name, host_name(end),
                     fact == nullptr || fact->unknown_because.empty()
                         ? std::string{}
                         : ": " + fact->unknown_because));
    return nullptr;
  }
  cite(fmt::format("/hosts/{}/facts/{}", host_key(end), fact - info->facts.data()));
  return fact;
}

std::optional<double> Look::fact(End end, std::string_view key) {
  const Fact* found = known_fact(end, key);
  return found == nullptr ? std::nullopt : number_of(found->value);
}

std::optional<std::string> Look::fact_text(End end, std::string_view key) {
  const Fact* found = known_fact(end, key);
  const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::vector<Look::Reading> Look::readings(End end, std::string_view key) {
  std::vector<Reading> found;
  if (row_ == nullptr) {
    return found;
  }
  const std::string name = named(end, key);
  const bool initiator = host_key(end) == "h0";
  for (std::size_t index = 0; index < row_->rounds.size(); ++index) {
    const Round& round = row_->rounds[index];
    const Counters& counters = initiator ? round.initiator.counters : round.responder.counters;
    const auto at = counters.find(name);
    if (at != counters.end() && std::isfinite(at->second)) {
      found.push_back(
          {at->second, fmt::format("/measurements/{}/rounds/{}/counters/{}/{}", row_index_, index,
                                   initiator ? "initiator" : "responder", escaped(name))});
    } else if (!writes_zero(name) && has_family(counters, family_of(name))) {
      found.push_back({0, {}});
    }
  }
  if (found.empty()) {
    lack(fmt::format("counter {} of {}", name, host_name(end)));
  }
  return found;
}

std::optional<double> Look::total(End end, std::string_view key) {
  const auto found = readings(end, key);
  if (found.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const Reading& one : found) {
    sum += one.value;
  }
  cite_largest(found);
  return sum;
}

std::optional<double> Look::typical(End end, std::string_view key) {
  const auto found = readings(end, key);
  if (found.empty()) {
    return std::nullopt;
  }
  std::vector<double> values;
  std::ranges::transform(found, std::back_inserter(values), &Reading::value);
  cite_largest(found);
  return median_of(std::move(values));
}

std::optional<double> Look::largest(End end, std::string_view key) {
  const auto found = readings(end, key);
  if (found.empty()) {
    return std::nullopt;
  }
  cite_largest(found);
  return std::ranges::max_element(found, {}, &Reading::value)->value;
}

void Look::cite_largest(const std::vector<Reading>& readings) {
  const auto largest = std::ranges::max_element(readings, {}, &Reading::value);
  if (!largest->pointer.empty()) {
    cite(largest->pointer);
  }
}

std::map<std::string, double> Look::totals_below(End end, std::string_view prefix) {
  std::map<std::string, double> totals;
  if (row_ == nullptr) {
    return totals;
  }
  const std::string name = named(end, prefix);
  const bool initiator = host_key(end) == "h0";
  for (const Round& round : row_->rounds) {
    const Counters& counters = initiator ? round.initiator.counters : round.responder.counters;
    for (auto at = counters.lower_bound(name); at != counters.end() && at->first.starts_with(name);
         ++at) {
      totals[at->first] += at->second;
    }
  }
  return totals;
}

std::optional<double> Look::elapsed_s(End end) {
  if (row_ == nullptr) {
    return std::nullopt;
  }
  const bool initiator = host_key(end) == "h0";
  double sum = 0;
  for (const Round& round : row_->rounds) {
    const double own = initiator ? round.initiator.elapsed_s : round.responder.elapsed_s;
    sum += own > 0 ? own : static_cast<double>(round.duration_ns) * 1e-9;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

Look::Taken Look::taken_cpu(End end) const {
  double elapsed_s = 0;
  Taken taken;
  const bool initiator = host_key(end) == "h0";
  for (const Round& round : row_ == nullptr ? std::vector<Round>{} : row_->rounds) {
    const EndRecord& record = initiator ? round.initiator : round.responder;
    elapsed_s += record.elapsed_s;
    taken.by_hypervisor += record.steal_s;
    taken.by_other_programs += record.foreign_cpu_s;
  }
  return elapsed_s > 0 ? Taken{taken.by_hypervisor / elapsed_s, taken.by_other_programs / elapsed_s}
                       : Taken{};
}

std::optional<double> Look::ratio(End end, std::string_view numerator,
                                  std::string_view denominator) {
  const auto over = total(end, numerator);
  const auto under = total(end, denominator);
  return over && under && *under > 0 ? std::optional(*over / *under) : std::nullopt;
}

const Value* Look::known_setting(End end, std::string_view name) {
  if (row_ == nullptr) {
    return nullptr;
  }
  const bool initiator = host_key(end) == "h0";
  const ValueMap& map =
      initiator ? row_->tunables.effective_initiator : row_->tunables.effective_responder;
  const auto found = map.find(std::string(name));
  if (found == map.end() || std::holds_alternative<std::monostate>(found->second)) {
    lack(fmt::format("effective {} of {}", name, host_name(end)));
    return nullptr;
  }
  cite(fmt::format("/measurements/{}/tunables/effective/{}/{}", row_index_,
                   initiator ? "initiator" : "responder", escaped(name)));
  return &found->second;
}

std::optional<double> Look::setting(End end, std::string_view name) {
  const Value* value = known_setting(end, name);
  return value == nullptr ? std::nullopt : number_of(*value);
}

std::optional<std::string> Look::setting_text(End end, std::string_view name) {
  const Value* value = known_setting(end, name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

bool Look::asked_for(std::string_view name) const {
  return row_ != nullptr && is_asked_for(*row_, name);
}

std::optional<double> Look::goodput_bps() {
  if (row_ == nullptr || !row_->summary.goodput_bps) {
    lack("the row's goodput");
    return std::nullopt;
  }
  cite(fmt::format("/measurements/{}/summary/goodput_bps", row_index_));
  return row_->summary.goodput_bps;
}

const Bound* Look::bound(std::string_view id) {
  const auto found = std::ranges::find(bounds_, id, &Bound::id);
  if (found == bounds_.end() || !found->limit_bps) {
    lack(fmt::format("bound {}{}", id,
                     found == bounds_.end() ? std::string{} : ": " + found->arithmetic));
    return nullptr;
  }
  for (const std::string& pointer : found->evidence) {
    cite(pointer);
  }
  return &*found;
}

std::optional<double> Look::nearness(std::string_view id) {
  const Bound* found = bound(id);
  return found == nullptr ? std::nullopt : std::optional(found->nearness);
}

namespace {

/// An experiment is about the row only where its own base is: one whose streams did not get going
/// (seen behind a queue of five packets: 1.7 Mb/s where the row had 139) shows nothing.
constexpr double kLikeTheRow = 4;

bool is_like(const Measurement& row, const Intervention& moved) {
  const auto own = moved.metric == "rtt_p50_ns" ? row.summary.rtt_p50_ns : row.summary.goodput_bps;
  return !own || *own <= 0 ||
         (moved.base * kLikeTheRow >= *own && moved.base <= *own * kLikeTheRow);
}

}  // namespace

const Intervention* Look::moved(std::string_view experiment) {
  const auto& all = document_.interventions;
  const auto found = std::ranges::find_if(all, [&](const Intervention& one) {
    return one.id == experiment && one.n_pairs > 0 &&
           (row_ == nullptr || (one.row == row_->id && is_like(*row_, one)));
  });
  if (found == all.end()) {
    return nullptr;
  }
  cite(fmt::format("/interventions/{}", found - all.begin()));
  return &*found;
}

std::optional<double> Look::sibling_ratio(std::string_view tunable, const Value& value) {
  const auto own = row_ == nullptr ? std::nullopt : row_->summary.goodput_bps;
  if (!own || *own <= 0) {
    return std::nullopt;
  }
  for (std::size_t index = 0; index < document_.measurements.size(); ++index) {
    const Measurement& other = document_.measurements[index];
    if (other.summary.goodput_bps && differs_only_in(*row_, other, tunable, value)) {
      cite(fmt::format("/measurements/{}/summary/goodput_bps", index));
      return *other.summary.goodput_bps / *own;
    }
  }
  return std::nullopt;
}

void Look::cite(std::string pointer) {
  if (std::ranges::find(evidence_, pointer) == evidence_.end()) {
    evidence_.push_back(std::move(pointer));
  }
}

void Look::lack(std::string what) {
  if (std::ranges::find(missing_, what) == missing_.end()) {
    missing_.push_back(std::move(what));
  }
}

bool is_asked_for(const Measurement& row, std::string_view name) {
  const auto found = row.tunables.requested.find(std::string(name));
  if (found == row.tunables.requested.end()) {
    return false;
  }
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr || *text != "auto";
}

bool differs_only_in(const Measurement& row, const Measurement& other, std::string_view tunable,
                     const Value& value) {
  if (row.transport != other.transport || row.workload != other.workload ||
      row.direction != other.direction || row.id == other.id) {
    return false;
  }
  const bool by_size = tunable == "size";
  const auto* bytes = std::get_if<std::int64_t>(&value);
  if (by_size ? bytes == nullptr || other.size_bytes != *bytes
              : other.size_bytes != row.size_bytes) {
    return false;
  }
  ValueMap expected = row.tunables.requested;
  if (!by_size) {
    expected[std::string(tunable)] = value;
  }
  return other.mtu_bytes == row.mtu_bytes && other.tunables.requested == expected;
}

}  // namespace netbench::report
