#include "bench/model/texts.hpp"

#include "bench/model/layout.hpp"

namespace netbench {

namespace {

/// Goes down a value by its type; numbers are left alone.
struct Walker {
  const TextVisitor& visit;

  template <class T>
  void walk(std::string_view, T&) const {}

  void walk(std::string_view key, std::string& text) const { visit(key, text); }

  void walk(std::string_view key, Value& value) const {
    if (auto* text = std::get_if<std::string>(&value)) {
      visit(key, *text);
    }
  }

  void walk(std::string_view key, std::set<std::string>& texts) const {
    std::set<std::string> visited;
    for (std::string text : texts) {
      visit(key, text);
      visited.insert(std::move(text));
    }
    texts = std::move(visited);
  }

  template <class T>
  void walk(std::string_view key, std::optional<T>& value) const {
    if (value) {
      walk(key, *value);
    }
  }

  template <class T>
  void walk(std::string_view key, std::vector<T>& values) const {
    for (T& value : values) {
      walk(key, value);
    }
  }

  template <class T>
  void walk(std::string_view, std::map<std::string, T>& values) const {
    for (auto& [key, value] : values) {
      walk(key, value);
    }
  }

  void walk(std::string_view, Fact& fact) const {
    walk("key", fact.key);
    walk(fact.key, fact.value);
    walk("source", fact.source);
    walk("unknown_because", fact.unknown_because);
  }

  template <layout::Structured T>
  void walk(std::string_view, T& object) const {
    layout::for_each_field<T>([&](const auto& field) {
      walk(layout::split_key(field.key).second, field.of(object));
      return true;
    });
  }
};

}  // namespace

void for_each_text(Document& document, const TextVisitor& visit) {
  Walker{visit}.walk({}, document);
}

}  // namespace netbench
