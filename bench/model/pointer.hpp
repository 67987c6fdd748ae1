#pragma once

#include <optional>
#include <string_view>

#include "bench/model/document.hpp"

namespace netbench {

/// The value that a JSON pointer (RFC 6901) into the document's text leads to, such as
/// "/hosts/h0/facts/3/value" or "/measurements/0/summary/rtt_ns/p50". Nothing where it leads
/// nowhere, to what is absent, or to an object or a list as a whole. No text is made; series and
/// histograms are not entered.
[[nodiscard]] std::optional<Value> value_at(const Document& document, std::string_view pointer);

}  // namespace netbench
