#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/error.hpp"

namespace netbench::sdk {

/// The requested values of one point, read by a plug-in's own table; an absent tunable has its
/// default. Borrows both: use it inside the call that got the arguments. Names must be rows of the
/// table; an unknown one is a programming error and throws.
class Values {
 public:
  Values(std::span<const nb_tunable> table, const nb_open_args& args)
      : table_(table), values_(args.values, args.value_count) {}

  /// The raw number: integer, boolean 0/1, index of a choice, or NB_AUTO.
  [[nodiscard]] std::int64_t number(std::string_view name) const {
    const nb_tunable& tunable = find(name);
    const nb_value* value = given(name);
    return value != nullptr ? value->number : tunable.default_number;
  }
  /// As number(), nothing for `auto`.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const {
    const std::int64_t value = number(name);
    return value == NB_AUTO ? std::nullopt : std::optional(value);
  }
  [[nodiscard]] bool flag(std::string_view name) const { return number(name) != 0; }

  /// A choice as an enum whose values are the indices in the table.
  template <class Enum>
  [[nodiscard]] Enum choice(std::string_view name) const {
    return static_cast<Enum>(number(name));
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const nb_tunable& tunable = find(name);
    const nb_value* value = given(name);
    const char* chosen =
        value != nullptr && value->text != nullptr ? value->text : tunable.default_text;
    return chosen != nullptr ? chosen : "";
  }
  /// As text(), nothing for "auto".
  [[nodiscard]] std::optional<std::string> text_unless_auto(std::string_view name) const {
    std::string value = text(name);
    return value == "auto" ? std::nullopt : std::optional(std::move(value));
  }

  /// Throws NB_INVALID, naming the tunable, for an unknown name or a number outside its row.
  void validate() const {
    for (const nb_value& value : values_) {
      validate_one(value);
    }
  }

 private:
  [[nodiscard]] const nb_tunable* lookup(std::string_view name) const {
    const auto at =
        std::ranges::find_if(table_, [name](const nb_tunable& row) { return name == row.name; });
    return at != table_.end() ? &*at : nullptr;
  }
  [[nodiscard]] const nb_tunable& find(std::string_view name) const {
    const nb_tunable* row = lookup(name);
    if (row == nullptr) {
      throw Error(NB_FAILED, "transport-internal", "no tunable " + std::string(name));
    }
    return *row;
  }
  [[nodiscard]] const nb_value* given(std::string_view name) const {
    const auto at =
        std::ranges::find_if(values_, [name](const nb_value& value) { return name == value.name; });
    return at != values_.end() ? &*at : nullptr;
  }
  void validate_one(const nb_value& value) const {
    const nb_tunable* row = lookup(value.name);
    if (row == nullptr) {
      throw invalid(value.name, "no such tunable", "see `netbench transports`");
    }
    if (row->type == NB_TYPE_TEXT) {
      return;
    }
    if (value.number == NB_AUTO) {
      if ((row->flags & NB_TUNABLE_ALLOWS_AUTO) == 0) {
        throw invalid(value.name, "`auto` is not a level of it");
      }
      return;
    }
    if (value.number < row->minimum || value.number > row->maximum) {
      throw invalid(value.name, std::to_string(value.number) + " is outside " +
                                    std::to_string(row->minimum) + ".." +
                                    std::to_string(row->maximum));
    }
  }

  std::span<const nb_tunable> table_;
  std::span<const nb_value> values_;
};

}  // namespace netbench::sdk
