#include "bench/model/pointer.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <vector>

#include "bench/model/layout.hpp"

namespace netbench {

namespace {

using Tokens = std::span<const std::string>;

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    text += !escape ? token[i] : token[i + 1] == '1' ? '/' : '~';
    i += escape ? 1 : 0;
  }
  return text;
}

/// "/a/b" → {"a", "b"}.
std::vector<std::string> tokens_of(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (pointer.starts_with('/')) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    tokens.push_back(unescaped(pointer.substr(1, end - 1)));
    pointer.remove_prefix(end);
  }
  return tokens;
}

/// Goes down a value by its type.
struct Finder {
  using Found = std::optional<Value>;

  static Found find(const Value& value, Tokens rest) {
    return rest.empty() ? Found(value) : Found();
  }
  static Found find(const std::string& text, Tokens rest) { return find(Value(text), rest); }
  static Found find(bool flag, Tokens rest) { return find(Value(flag), rest); }
  static Found find(double number, Tokens rest) { return find(Value(number), rest); }
  template <class T>
  requires std::is_integral_v<T>
  static Found find(T number, Tokens rest) {
    return find(Value(static_cast<std::int64_t>(number)), rest);
  }
  template <layout::NamedEnum E>
  static Found find(E value, Tokens rest) {
    const auto name = layout::EnumNames<E>::kNames.at(static_cast<std::size_t>(value));
    return find(Value(std::string(name)), rest);
  }
  static Found find(Direction direction, Tokens rest) {
    return find(Value(to_string(direction)), rest);
  }
  static Found find(ExitClass exit_class, Tokens rest) {
    return find(Value(static_cast<std::int64_t>(exit_class)), rest);
  }
  static Found find(const stats::Histogram&, Tokens) { return {}; }
  static Found find(const std::set<std::string>&, Tokens) { return {}; }
  static Found find(const SeriesPoint&, Tokens) { return {}; }

  template <class T>
  static Found find(const std::optional<T>& value, Tokens rest) {
    return value ? find(*value, rest) : Found();
  }
  template <class T>
  static Found find(const std::vector<T>& values, Tokens rest) {
    std::size_t index = 0;
    if (rest.empty() || rest[0].empty()) {
      return {};
    }
    const char* end = rest[0].data() + rest[0].size();
    const auto parsed = std::from_chars(rest[0].data(), end, index);
    const bool there = parsed.ec == std::errc{} && parsed.ptr == end && index < values.size();
    return there ? find(values[index], rest.subspan(1)) : Found();
  }
  template <class T>
  static Found find(const std::map<std::string, T>& values, Tokens rest) {
    const auto found = rest.empty() ? values.end() : values.find(rest[0]);
    return found == values.end() ? Found() : find(found->second, rest.subspan(1));
  }
  template <layout::Structured T>
  static Found find(const T& object, Tokens rest) {
    Found found;
    layout::for_each_field<T>([&](const auto& field) {
      const auto [group, name] = layout::split_key(field.key);
      const std::size_t depth = group.empty() ? 1 : 2;
      const bool matches =
          rest.size() >= depth && rest[depth - 1] == name && (group.empty() || rest[0] == group);
      if (matches) {
        found = find(field.of(object), rest.subspan(depth));
      }
      return !matches;
    });
    return found;
  }
};

}  // namespace

std::optional<Value> value_at(const Document& document, std::string_view pointer) {
  return Finder::find(document, tokens_of(pointer));
}

}  // namespace netbench
