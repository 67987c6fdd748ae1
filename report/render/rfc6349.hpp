#pragma once

#include <optional>

#include "bench/model/document.hpp"
#include "report/render/table.hpp"

namespace netbench::report {

/// The metrics of RFC 6349 of the TCP stream rows that have any; what is unknown says why in the
/// last column. Nothing where no row has one.
[[nodiscard]] std::optional<Table> rfc6349_table(const Document& document);

}  // namespace netbench::report
