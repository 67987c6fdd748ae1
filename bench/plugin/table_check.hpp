#pragma once

#include <string>

#include "bench/core/result.hpp"
#include "bench/plan/tunable.hpp"
#include "transports/abi/nb_transport.h"

namespace netbench::plugin {

/// May the table be read at all? Size, version, and every pointer a harness needs.
/// Errors: `plugin-version`, `plugin-invalid`; `origin` begins the message.
[[nodiscard]] Status check_layout(const nb_transport* table, const std::string& origin);

/// Copies a table whose layout is sound.
[[nodiscard]] plan::TransportSpec copy_spec(const nb_transport& table);

/// Does what is declared make sense? Names unique and well-formed, help given, ranges not empty,
/// defaults and sweeps legal, sizes within limits, workload bits of existing workloads. Names the
/// first offending row. Errors: `plugin-invalid`.
[[nodiscard]] Status check_spec(const plan::TransportSpec& spec, const std::string& origin);

}  // namespace netbench::plugin
