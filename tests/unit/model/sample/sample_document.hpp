#pragma once

#include <string>

#include "bench/model/document.hpp"

namespace netbench::test {

/// A finished run between two hosts, with every kind of row: TCP bandwidth over buffers and MTU,
/// both directions at once, latency, message rate, connection set-up, UDP with loss, a failed and a
/// skipped point. Every field of every type is set somewhere.
[[nodiscard]] Document sample_document();

/// The smallest document a writer can produce: a run that failed before it measured.
[[nodiscard]] Document failed_document();

/// One stream measurement with an interval of ±0.1 % about `goodput_bps`, for tests of a single
/// row.
[[nodiscard]] Measurement stream_row(const std::string& id, std::int64_t size_bytes,
                                     double goodput_bps);

/// One latency measurement whose median is `p50_ns`.
[[nodiscard]] Measurement latency_row(const std::string& id, std::int64_t size_bytes,
                                      double p50_ns);

}  // namespace netbench::test
