#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bench/model/layout.hpp"

/// Writes and reads one type each; the object types by their table in layout.hpp. Private to the
/// codec.
namespace netbench::coder {

using nlohmann::json;
using nlohmann::ordered_json;

/// A JSON value that is being read, and the way to it from the top, for messages. Lives on the
/// stack.
struct Place {
  const json& value;
  Error& error;
  const Place* parent = nullptr;
  std::string_view key{};  // in the parent, where it is an object
  std::size_t index = 0;   // in the parent, where it is an array
  bool lenient = false;    // members that are missing keep their defaults

  [[nodiscard]] Place child(const json& inner, std::string_view inner_key) const {
    return {inner, error, this, inner_key, 0, lenient};
  }
  [[nodiscard]] Place child(const json& inner, std::size_t inner_index) const {
    return {inner, error, this, {}, inner_index, lenient};
  }
  /// The same place, where every member has to be there.
  [[nodiscard]] Place strict() const { return {value, error, parent, key, index, false}; }

  /// The JSON pointer to here (RFC 6901).
  [[nodiscard]] std::string pointer() const;
  /// Records what was expected here; always false.
  bool refuse(std::string_view expected) const;
  /// Records that an object here lacks `missing`; always false.
  bool refuse_missing(std::string_view missing) const;
  /// True for a JSON object; else refuses.
  [[nodiscard]] bool expect_object() const;
  [[nodiscard]] bool expect_array() const;
};

/// An object with room for `members`: a growing ordered_json copies what it holds, since its keys
/// are const.
[[nodiscard]] inline ordered_json object_for(std::size_t members) {
  ordered_json object = ordered_json::object();
  object.get_ref<ordered_json::object_t&>().reserve(members);
  return object;
}

/// Adds a member to an object without searching for the key first.
inline void append(ordered_json& object, std::string_view key, ordered_json value) {
  object.get_ref<ordered_json::object_t&>().emplace_back(std::string(key), std::move(value));
}

/// The member of that name, or null where there is none or it is null.
[[nodiscard]] inline const json* find_value(const json& object, std::string_view key) {
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
struct Coder;

template <>
struct Coder<bool> {
  static ordered_json write(bool value) { return value; }
  static bool read(const Place& at, bool& out);
};

/// Whole numbers are refused outside the type's range; text and fractions always.
template <class T>
requires std::is_integral_v<T>
struct Coder<T> {
  static ordered_json write(T value) { return value; }
  static bool read(const Place& at, T& out) {
    if (at.value.is_number_unsigned()) {
      const auto number = at.value.get<std::uint64_t>();
      out = static_cast<T>(number);
      return number <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()) ||
             at.refuse("a whole number in range");
    }
    if (at.value.is_number_integer() && std::is_signed_v<T>) {
      const auto number = at.value.get<std::int64_t>();
      out = static_cast<T>(number);
      return static_cast<std::int64_t>(out) == number || at.refuse("a whole number in range");
    }
    return at.refuse(std::is_signed_v<T> ? "a whole number" : "a whole number of at least 0");
  }
};

template <>
struct Coder<double> {
  static ordered_json write(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
  }
  static bool read(const Place& at, double& out);
};

template <>
struct Coder<std::string> {
  static ordered_json write(const std::string& value) { return value; }
  static bool read(const Place& at, std::string& out);
};

template <>
struct Coder<Value> {
  static ordered_json write(const Value& value);
  static bool read(const Place& at, Value& out);
};

template <>
struct Coder<Direction> {
  static ordered_json write(Direction value) { return to_string(value); }
  static bool read(const Place& at, Direction& out);
};

template <>
struct Coder<ExitClass> {
  static ordered_json write(ExitClass value) { return static_cast<int>(value); }
  static bool read(const Place& at, ExitClass& out);
};

template <>
struct Coder<stats::Histogram> {
  static ordered_json write(const stats::Histogram& histogram);
  static bool read(const Place& at, stats::Histogram& out);
};

/// A series is one object of equally long lists, so that every number's unit is in a key.
template <>
struct Coder<std::vector<SeriesPoint>> {
  static ordered_json write(const std::vector<SeriesPoint>& series);
  static bool read(const Place& at, std::vector<SeriesPoint>& out);
};

template <layout::NamedEnum E>
struct Coder<E> {
  static ordered_json write(E value) {
    return layout::EnumNames<E>::kNames.at(static_cast<std::size_t>(value));
  }
  static bool read(const Place& at, E& out) {
    constexpr auto& kNames = layout::EnumNames<E>::kNames;
    const auto found = at.value.is_string()
                           ? std::ranges::find(kNames, at.value.get_ref<const std::string&>())
                           : kNames.end();
    if (found == kNames.end()) {
      return at.refuse(fmt::format("one of {}", fmt::join(kNames, ", ")));
    }
    out = static_cast<E>(found - kNames.begin());
    return true;
  }
};

template <class T>
struct Coder<std::vector<T>> {
  static ordered_json write(const std::vector<T>& values) {
    ordered_json array = ordered_json::array();
    for (const T& value : values) {
      array.push_back(Coder<T>::write(value));
    }
    return array;
  }
  static bool read(const Place& at, std::vector<T>& out) {
    if (!at.expect_array()) {
      return false;
    }
    out.clear();
    for (std::size_t i = 0; i < at.value.size(); ++i) {
      if (!Coder<T>::read(at.child(at.value[i], i), out.emplace_back())) {
        return false;
      }
    }
    return true;
  }
};

template <>
struct Coder<std::set<std::string>> {
  static ordered_json write(const std::set<std::string>& values) { return values; }
  static bool read(const Place& at, std::set<std::string>& out);
};

template <class T>
struct Coder<std::map<std::string, T>> {
  static ordered_json write(const std::map<std::string, T>& values) {
    ordered_json object = object_for(values.size());
    for (const auto& [key, value] : values) {
      append(object, key, Coder<T>::write(value));
    }
    return object;
  }
  static bool read(const Place& at, std::map<std::string, T>& out) {
    if (!at.expect_object()) {
      return false;
    }
    out.clear();
    return std::ranges::all_of(at.value.get_ref<const json::object_t&>(), [&](const auto& member) {
      return Coder<T>::read(at.child(member.second, member.first), out[member.first]);
    });
  }
};

/// True where the optional has something to write; a number that is not finite counts as absent.
template <class T>
[[nodiscard]] bool is_present(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, double>) {
    return value && std::isfinite(*value);
  } else {
    return value.has_value();
  }
}

/// Writes one field of `owner` into `object` (or into its group there).
template <class FieldType, class Owner>
void write_field(ordered_json& object, const FieldType& field, const Owner& owner) {
  const auto& member = field.of(owner);
  const auto [group, name] = layout::split_key(field.key);
  ordered_json value;
  if constexpr (kIsOptional<std::remove_cvref_t<decltype(member)>>) {
    if (is_present(member)) {
      value = Coder<std::remove_cvref_t<decltype(*member)>>::write(*member);
    } else if (!field.always) {
      return;
    }
  } else {
    value = Coder<std::remove_cvref_t<decltype(member)>>::write(member);
  }
  if (group.empty()) {
    append(object, name, std::move(value));
  } else {
    object[std::string(group)][std::string(name)] = std::move(value);
  }
}

/// Reads the member `name` of the object at `at`.
template <class T>
bool read_member(const Place& at, std::string_view name, T& out) {
  if constexpr (kIsOptional<T>) {
    const json* value = find_value(at.value, name);
    out.reset();
    return value == nullptr ||
           Coder<typename T::value_type>::read(at.child(*value, name), out.emplace());
  } else {
    const auto value = at.value.find(std::string(name));
    if (value == at.value.end()) {
      return at.lenient || at.refuse_missing(name);
    }
    return Coder<T>::read(at.child(*value, name), out);
  }
}

/// Reads one field of `owner` from the object at `at`. A group that is absent reads as one without
/// members.
template <class FieldType, class Owner>
bool read_field(const Place& at, const FieldType& field, Owner& owner) {
  const auto [group, name] = layout::split_key(field.key);
  if (field.since_minor > 0 && find_value(at.value, field.key) == nullptr) {
    return true;
  }
  if (group.empty()) {
    return read_member(at, name, field.of(owner));
  }
  static const json kNoMembers = json::object();
  const json* inner = find_value(at.value, group);
  const Place inside = at.child(inner == nullptr ? kNoMembers : *inner, group);
  return inside.expect_object() && read_member(inside, name, field.of(owner));
}

/// Keys that repeat what stands deeper, for readers in a hurry; never read back.
template <class T>
void write_derived(ordered_json&, const T&) {}
void write_derived(ordered_json& object, const Round& round);

template <layout::Structured T>
struct Coder<T> {
  static void write_into(ordered_json& object, const T& value) {
    layout::for_each_field<T>([&](const auto& field) {
      write_field(object, field, value);
      return true;
    });
    write_derived(object, value);
  }
  static ordered_json write(const T& value) {
    constexpr std::size_t kDerivedKeys = 2;
    ordered_json object =
        object_for(std::tuple_size_v<decltype(layout::Layout<T>::kFields)> + kDerivedKeys);
    write_into(object, value);
    return object;
  }
  static bool read(const Place& at, T& out) {
    return at.expect_object() &&
           layout::for_each_field<T>([&](const auto& field) { return read_field(at, field, out); });
  }
};

}  // namespace netbench::coder
