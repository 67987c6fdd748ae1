#include "report/document/upgrade.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "bench/model/codec.hpp"

namespace netbench::report {

namespace {

using Step = Status (*)(nlohmann::json&);

/// kSteps[i] leads from major i+1 to i+2; empty while there is only major 1.
constexpr std::span<const Step> kSteps{};

static_assert(kSteps.size() + 1 == kSchemaMajor, "a new major version needs its upgrade step");

}  // namespace

Status upgrade_document(nlohmann::json& document, int major) {
  if (major < 1) {
    return fail("document-invalid",
                fmt::format("/schema/major: there never was a version {}", major));
  }
  for (const Step step : kSteps.subspan(static_cast<std::size_t>(major) - 1)) {
    if (Status done = step(document); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace netbench::report
