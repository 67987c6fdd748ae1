#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// A value with the unit of its key: "tcp_info.rtt_us" 10200 → "10.2 ms". Without a unit as it is.
[[nodiscard]] std::string quantity_text(std::string_view key, const Value& value);

/// What a finding's pointers lead to, one line each: "nb-b  tcp_info.rcv_wnd = 64 KiB". The same
/// thing of several rounds stands once; pointers that lead nowhere are left out.
[[nodiscard]] std::vector<std::string> evidence_lines(const Document& document,
                                                      const std::vector<std::string>& pointers);

/// "goodput x 3.91 [3.80-4.02, 95 %, n = 5 pairs]: 4 streams instead of 1"; without pairs its note.
[[nodiscard]] std::string intervention_text(const Intervention& intervention);

/// Index of the measurement that a pointer is about, -1 for none.
[[nodiscard]] int row_of_pointer(std::string_view pointer);

}  // namespace netbench::report
