#include "report/document/defuse.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/model/texts.hpp"

namespace netbench::report {

namespace {

constexpr std::size_t kHostBytes = 200;
constexpr std::size_t kOtherBytes = 1000;
constexpr std::string_view kCut = "…";

/// At the end of a character of UTF-8.
void cut(std::string& text, std::size_t limit) {
  if (text.size() <= limit) {
    return;
  }
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  text.resize(end);
  text += kCut;
}

/// Of facts, where from and why not are sentences that no command repeats; a stack of devices is
/// written "bond0 > eth0,eth1".
bool is_in_commands(std::string_view key) { return key != "source" && key != "unknown_because"; }

void defuse_word(std::string_view key, std::string& text) {
  constexpr std::string_view kStack = ".stack";
  constexpr std::string_view kShell = "$`;&|<>'\"\\\n\r";
  const bool is_stack = key.ends_with(kStack);
  std::ranges::replace_if(
      text,
      [&](char letter) {
        return kShell.find(letter) != std::string_view::npos && !(is_stack && letter == '>');
      },
      '_');
}

}  // namespace

Document defused(Document document) {
  Document hosts;
  std::swap(hosts.hosts, document.hosts);
  for_each_text(hosts, [](std::string_view key, std::string& text) {
    cut(text, kHostBytes);
    if (is_in_commands(key)) {
      defuse_word(key, text);
    }
  });
  for_each_text(document, [](std::string_view, std::string& text) { cut(text, kOtherBytes); });
  std::swap(hosts.hosts, document.hosts);
  return document;
}

}  // namespace netbench::report
