#include "bench/model/coder.hpp"

namespace netbench::coder {

namespace {

constexpr std::size_t kShownBytes = 40;

std::string escaped(std::string_view token) {
  std::string text;
  for (const char c : token) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::string shown(const json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "an array" : "an object";
  }
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShownBytes) {
    text = text.substr(0, kShownBytes) + "...";
  }
  return text;
}

/// True where the list at `at` has `size` elements; else refuses.
bool expect_size(const Place& at, std::size_t size) {
  return at.value.size() == size || at.refuse(fmt::format("a list of {} elements", size));
}

template <class T>
ordered_json column(const std::vector<SeriesPoint>& series, T SeriesPoint::*member) {
  ordered_json values = ordered_json::array();
  for (const SeriesPoint& point : series) {
    values.push_back(point.*member);
  }
  return values;
}

}  // namespace

std::string Place::pointer() const {
  if (parent == nullptr) {
    return {};
  }
  const std::string token = parent->value.is_array() ? std::to_string(index) : escaped(key);
  return parent->pointer() + "/" + token;
}

bool Place::refuse(std::string_view expected) const {
  const std::string where = pointer();
  error = {"document-invalid",
           fmt::format("{}: expected {}, found {}", where.empty() ? "at the top" : where, expected,
                       shown(value)),
           "", ExitClass::error};
  return false;
}

bool Place::refuse_missing(std::string_view missing) const {
  error = {"document-invalid",
           fmt::format("{}/{}: the key is missing", pointer(), escaped(missing)), "",
           ExitClass::error};
  return false;
}

bool Place::expect_object() const { return value.is_object() || refuse("an object"); }

bool Place::expect_array() const { return value.is_array() || refuse("an array"); }

bool Coder<bool>::read(const Place& at, bool& out) {
  if (!at.value.is_boolean()) {
    return at.refuse("true or false");
  }
  out = at.value.get<bool>();
  return true;
}

bool Coder<double>::read(const Place& at, double& out) {
  if (at.value.is_null()) {
    out = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (!at.value.is_number()) {
    return at.refuse("a number");
  }
  out = at.value.get<double>();
  return true;
}

bool Coder<std::string>::read(const Place& at, std::string& out) {
  if (!at.value.is_string()) {
    return at.refuse("a text");
  }
  out = at.value.get_ref<const std::string&>();
  return true;
}

ordered_json Coder<Value>::write(const Value& value) {
  return std::visit(
      [](const auto& held) -> ordered_json {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else {
          return Coder<Held>::write(held);
        }
      },
      value);
}

bool Coder<Value>::read(const Place& at, Value& out) {
  switch (at.value.type()) {
    case json::value_t::null:
      out = std::monostate{};
      return true;
    case json::value_t::boolean:
      return Coder<bool>::read(at, out.emplace<bool>());
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      return Coder<std::int64_t>::read(at, out.emplace<std::int64_t>());
    case json::value_t::number_float:
      return Coder<double>::read(at, out.emplace<double>());
    case json::value_t::string:
      return Coder<std::string>::read(at, out.emplace<std::string>());
    default:
      return at.refuse("null, true, false, a number or a text");
  }
}

bool Coder<Direction>::read(const Place& at, Direction& out) {
  std::string text;
  if (!Coder<std::string>::read(at, text)) {
    return false;
  }
  const Result<Direction> direction = parse_direction(text);
  out = direction.value_or(Direction::none);
  return direction.has_value() || at.refuse("one of none, forward, reverse, both");
}

bool Coder<ExitClass>::read(const Place& at, ExitClass& out) {
  constexpr std::array kClasses{ExitClass::passed,
                                ExitClass::error,
                                ExitClass::usage,
                                ExitClass::acceptance_failed,
                                ExitClass::nothing_measured,
                                ExitClass::partial,
                                ExitClass::interrupted};
  std::int64_t number = 0;
  if (!Coder<std::int64_t>::read(at, number)) {
    return false;
  }
  const auto found = std::ranges::find(
      kClasses, number, [](ExitClass exit_class) { return static_cast<std::int64_t>(exit_class); });
  out = found == kClasses.end() ? ExitClass::error : *found;
  return found != kClasses.end() || at.refuse("an exit code 0 to 5, or 130");
}

ordered_json Coder<stats::Histogram>::write(const stats::Histogram& histogram) {
  ordered_json lowest = ordered_json::array();
  ordered_json counts = ordered_json::array();
  for (const auto& [value_ns, count] : histogram.sparse()) {
    lowest.push_back(value_ns);
    counts.push_back(count);
  }
  return {{"count", histogram.count()},
          {"min_ns", histogram.min()},
          {"max_ns", histogram.max()},
          {"lowest_ns", std::move(lowest)},
          {"counts", std::move(counts)}};
}

bool Coder<stats::Histogram>::read(const Place& place, stats::Histogram& out) {
  const Place at = place.strict();
  std::uint64_t total = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;
  std::vector<std::uint64_t> lowest;
  std::vector<std::uint64_t> counts;
  if (!at.expect_object() || !read_member(at, "count", total) ||
      !read_member(at, "min_ns", min_ns) || !read_member(at, "max_ns", max_ns) ||
      !read_member(at, "lowest_ns", lowest) || !read_member(at, "counts", counts) ||
      !expect_size(at.child(at.value["counts"], "counts"), lowest.size())) {
    return false;
  }
  stats::SparseBuckets buckets(lowest.size());
  std::ranges::transform(lowest, counts, buckets.begin(),
                         [](auto value_ns, auto count) { return std::pair(value_ns, count); });
  Result<stats::Histogram> histogram = stats::Histogram::from_sparse(buckets, min_ns, max_ns);
  if (!histogram) {
    return at.refuse(fmt::format("a histogram ({})", histogram.error().message));
  }
  out = std::move(*histogram);
  return out.count() == total || at.refuse("a histogram whose counts add up to its count");
}

ordered_json Coder<std::vector<SeriesPoint>>::write(const std::vector<SeriesPoint>& series) {
  return {{"end_ns", column(series, &SeriesPoint::end_ns)},
          {"duration_ns", column(series, &SeriesPoint::duration_ns)},
          {"bytes", column(series, &SeriesPoint::bytes)}};
}

bool Coder<std::vector<SeriesPoint>>::read(const Place& place, std::vector<SeriesPoint>& out) {
  const Place at = place.strict();
  std::vector<std::int64_t> end_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> bytes;
  if (!at.expect_object() || !read_member(at, "end_ns", end_ns) ||
      !read_member(at, "duration_ns", duration_ns) || !read_member(at, "bytes", bytes) ||
      !expect_size(at.child(at.value["duration_ns"], "duration_ns"), end_ns.size()) ||
      !expect_size(at.child(at.value["bytes"], "bytes"), end_ns.size())) {
    return false;
  }
  out.resize(end_ns.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {end_ns[i], duration_ns[i], bytes[i]};
  }
  return true;
}

bool Coder<std::set<std::string>>::read(const Place& at, std::set<std::string>& out) {
  std::vector<std::string> texts;
  if (!Coder<std::vector<std::string>>::read(at, texts)) {
    return false;
  }
  out = {texts.begin(), texts.end()};
  return true;
}

void write_derived(ordered_json& object, const Round& round) {
  std::int64_t warmup_cut_ns = 0;
  std::string stop_reason;
  const auto note = [&](const auto& record) {
    if (!record) {
      return;
    }
    warmup_cut_ns = std::max(warmup_cut_ns, record->warmup_cut_ns);
    if (stop_reason.empty() || stop_reason == "converged") {
      stop_reason = record->stop_reason;
    }
  };
  note(round.latency);
  note(round.forward);
  note(round.reverse);
  append(object, "stop_reason", stop_reason);
  append(object, "warmup_cut_ns", warmup_cut_ns);
}

}  // namespace netbench::coder
