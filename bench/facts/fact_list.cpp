#include <algorithm>

#include "bench/facts/collectors.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

void FactList::add(std::string key, Value value, std::string source) {
  facts_.push_back({std::move(key), std::move(value), std::move(source), {}});
}

void FactList::add_unknown(std::string key, std::string source, std::string why) {
  facts_.push_back({std::move(key), {}, std::move(source), std::move(why)});
}

void FactList::add_text_file(const std::string& key, const std::string& path) {
  auto text = read_line_file(root_, path);
  if (!text) {
    add_unknown(key, path, text.error().message);
  } else if (text->empty()) {
    add_unknown(key, path, path + " is empty");
  } else {
    add(key, std::move(*text), path);
  }
}

void FactList::add_integer_file(const std::string& key, const std::string& path) {
  const auto text = read_line_file(root_, path);
  const auto number = text ? to_integer(*text) : std::nullopt;
  if (!text) {
    add_unknown(key, path, text.error().message);
  } else if (!number) {
    add_unknown(key, path, path + " holds no whole number: \"" + *text + "\"");
  } else {
    add(key, *number, path);
  }
}

const Fact* FactList::find(std::string_view key) const {
  const auto found = std::ranges::find(facts_, key, &Fact::key);
  return found == facts_.end() ? nullptr : &*found;
}

}  // namespace netbench::facts
