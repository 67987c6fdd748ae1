#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/doctor_text.hpp"
#include "report/render/verdict_evidence.hpp"

namespace netbench::cli {

namespace {

bool is_set(const Value& value) {
  const auto* flag = std::get_if<bool>(&value);
  const auto* number = std::get_if<std::int64_t>(&value);
  return (flag != nullptr && *flag) || (number != nullptr && *number != 0);
}

std::string value_text(const Fact& fact) {
  if (const auto* flag = std::get_if<bool>(&fact.value); flag != nullptr) {
    return *flag ? "on" : "off";
  }
  return report::quantity_text(fact.key, fact.value);
}

/// Fills in one form.
class Form {
 public:
  Form(const HostInfo& host, const std::string& device) : host_(host), device_(device) {}

  std::string fill(std::string_view form) {
    std::string text;
    while (!form.empty()) {
      const char first = form.front();
      const auto end = first == '[' ? form.find(']') : first == '{' ? form.find('}') : 0;
      if (end == 0 || end == std::string_view::npos) {
        const auto plain =
            std::max<std::size_t>(std::min(form.find_first_of("[{"), form.size()), 1);
        text += form.substr(0, plain);
        form.remove_prefix(plain);
        continue;
      }
      const auto inner = form.substr(1, end - 1);
      text += first == '[' ? optional(inner) : value(inner);
      form.remove_prefix(end + 1);
    }
    return text;
  }
  [[nodiscard]] bool has_values() const { return has_values_; }

 private:
  std::string optional(std::string_view form) {
    Form inner(host_, device_);
    const std::string text = inner.fill(form);
    has_values_ = has_values_ || (inner.has_values_ && !inner.lacks_);
    return inner.lacks_ ? "" : text;
  }

  std::string value(std::string_view field) {
    const auto mark = field.find_first_of("?!");
    const std::string text =
        field_text(field.substr(0, mark),
                   mark == std::string_view::npos ? std::string_view{} : field.substr(mark));
    (text.empty() ? lacks_ : has_values_) = true;
    return text;
  }

  [[nodiscard]] std::string field_text(std::string_view key, std::string_view condition) const {
    if (key == "@address") {
      return host_.addresses.empty() ? "" : host_.addresses.front();
    }
    const Fact* fact = find_fact(host_, with_device(key));
    if (fact == nullptr || fact->value == Value{}) {
      return {};
    }
    if (condition.starts_with('?')) {
      return is_set(fact->value) ? std::string(condition.substr(1)) : std::string{};
    }
    std::string text = value_text(*fact);
    const bool usual = condition.starts_with('!') && text == condition.substr(1);
    return usual ? std::string{} : text;
  }

  [[nodiscard]] std::string with_device(std::string_view key) const {
    std::string full(key);
    if (const auto star = full.find('*'); star != std::string::npos) {
      full.replace(star, 1, device_);
    }
    return full;
  }

  const HostInfo& host_;
  const std::string& device_;
  bool lacks_ = false;
  bool has_values_ = false;
};

}  // namespace

std::string filled_in(std::string_view form, const HostInfo& host, const std::string& device) {
  Form filled(host, device);
  std::string text = filled.fill(form);
  if (!filled.has_values()) {
    return {};
  }
  const auto separator = [](char c) { return c == ' ' || c == ','; };
  while (!text.empty() && separator(text.back())) {
    text.pop_back();
  }
  text.erase(0, static_cast<std::size_t>(std::ranges::find_if_not(text, separator) - text.begin()));
  return text;
}

}  // namespace netbench::cli
