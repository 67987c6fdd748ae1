#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// The result in plain sentences: best goodput of each transport and direction against the wire,
/// half round trip of the smallest message, message rate, verbs against TCP, whether larger buffers
/// and a larger MTU helped, datagram loss, points that failed. Made from the measurements alone;
/// every number with n and interval. Two rows differ where their intervals do not touch.
[[nodiscard]] std::vector<std::string> plain_summary(const Document& document);

}  // namespace netbench::report
