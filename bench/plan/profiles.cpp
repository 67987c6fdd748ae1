#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/plan/builder.hpp"

namespace netbench::plan {

namespace {

struct ProfileRow {
  std::string_view name;
  ProfileDefaults defaults;
};
constexpr std::array<ProfileRow, 3> kProfiles{{{"quick", {3, 16'000'000'000}},
                                               {"default", {5, 50'000'000'000}},
                                               {"thorough", {9, 600'000'000'000}}}};

}  // namespace

Result<Profile> parse_profile(std::string_view text) {
  const auto* const found = std::ranges::find(kProfiles, text, &ProfileRow::name);
  if (found == kProfiles.end()) {
    return fail("bad-profile", fmt::format("\"{}\" is not a profile", text),
                "Use quick, default or thorough.", ExitClass::usage);
  }
  return static_cast<Profile>(found - kProfiles.begin());
}

ProfileDefaults defaults_of(Profile profile) {
  return kProfiles.at(static_cast<std::size_t>(profile)).defaults;
}

}  // namespace netbench::plan
