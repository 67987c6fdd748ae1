#include "bench/model/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace netbench {

namespace {
constexpr std::array<std::string_view, 4> kDirections{"none", "forward", "reverse", "both"};
}  // namespace

std::string to_string(Direction direction) {
  return std::string(kDirections.at(static_cast<std::size_t>(direction)));
}

Result<Direction> parse_direction(std::string_view text) {
  const auto found = std::ranges::find(kDirections, text);
  if (found == kDirections.end()) {
    return fail("bad-direction", fmt::format("\"{}\" is not a direction", text),
                "Use forward (the initiator sends), reverse or both.", ExitClass::usage);
  }
  return static_cast<Direction>(found - kDirections.begin());
}

}  // namespace netbench
