#pragma once

#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// What RDMA verbs give over TCP where both were measured, one sentence a direction and one for the
/// round trip: the best goodput of each, half the round trip of the smallest message of each, their
/// ratio with its interval (from the ends of both intervals). Before them, of rails that software
/// drives, that they are not comparable with hardware. Pure.
[[nodiscard]] std::vector<std::string> layer_texts(const Document& document);

}  // namespace netbench::report
