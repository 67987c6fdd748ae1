#include "report/render/verdict_words.hpp"

#include <algorithm>
#include <string_view>

#include "report/render/table.hpp"

namespace netbench::report {

std::string shortened(const std::string& text, int width) {
  std::string clean = printable(text);
  const auto room = static_cast<std::size_t>(std::max(width, 4));
  if (display_width(clean) <= room) {
    return clean;
  }
  while (display_width(clean) > room - 3 ||
         (!clean.empty() && (static_cast<unsigned char>(clean.back()) & 0xC0U) == 0xC0U)) {
    clean.pop_back();
  }
  return clean + "...";
}

std::string continued(const std::string& command, int room) {
  constexpr std::string_view kBreak = " \\\n ";
  std::string text;
  std::size_t column = 0;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find(" --", at + 1), command.size());
    const std::string_view part = std::string_view(command).substr(at, end - at);
    if (at > 0 && column + part.size() + 2 > static_cast<std::size_t>(room)) {
      text += kBreak;
      column = 1;
    }
    text += part;
    column += part.size();
    at = end;
  }
  return text;
}

}  // namespace netbench::report
