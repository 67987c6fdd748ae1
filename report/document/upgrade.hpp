#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/core/result.hpp"

namespace netbench::report {

/// Brings a document of an older major version to the current one, a step a major; every step is
/// kept for ever. Errors: `document-invalid` where no step leads from `major`.
[[nodiscard]] Status upgrade_document(nlohmann::json& document, int major);

}  // namespace netbench::report
