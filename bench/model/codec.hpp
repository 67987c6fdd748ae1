#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"

namespace netbench {

/// The version of the document this build writes. Minor: keys were added; major: an upgrade
/// function exists (report/document).
inline constexpr std::string_view kSchemaName = "netbench.result";
inline constexpr int kSchemaMajor = 1;
inline constexpr int kSchemaMinor = 1;

/// Value types to JSON, keys as in report/document/schema. Values that are absent have no key;
/// numbers that are not finite become null. Used for documents and on the control channel alike.
/// [any-thread]; never fails.
[[nodiscard]] nlohmann::ordered_json encode(const Value& value);
[[nodiscard]] nlohmann::ordered_json encode(const Counters& counters);
[[nodiscard]] nlohmann::ordered_json encode(const ValueMap& values);
[[nodiscard]] nlohmann::ordered_json encode(const Fact& fact);
[[nodiscard]] nlohmann::ordered_json encode(const HostInfo& host);
[[nodiscard]] nlohmann::ordered_json encode(const stats::Histogram& histogram);
[[nodiscard]] nlohmann::ordered_json encode(const StreamRecord& record);
[[nodiscard]] nlohmann::ordered_json encode(const LatencyRecord& record);
[[nodiscard]] nlohmann::ordered_json encode(const EndRecord& record);
[[nodiscard]] nlohmann::ordered_json encode(const Round& round);
[[nodiscard]] nlohmann::ordered_json encode(const TunableRecord& record);
[[nodiscard]] nlohmann::ordered_json encode(const Summary& summary);
[[nodiscard]] nlohmann::ordered_json encode(const Measurement& measurement);
[[nodiscard]] nlohmann::ordered_json encode(const Finding& finding);
[[nodiscard]] nlohmann::ordered_json encode(const Intervention& intervention);
[[nodiscard]] nlohmann::ordered_json encode(const PathMtu& path_mtu);
[[nodiscard]] nlohmann::ordered_json encode(const Error& error);
[[nodiscard]] nlohmann::ordered_json encode(const RunInfo& run);
[[nodiscard]] nlohmann::ordered_json encode(const Document& document);

/// JSON to value types. Strict about types and about keys the encoder always writes; keys it does
/// not know are ignored (a newer minor version added them); null reads as absent, or as NaN where a
/// number is required. Errors: `document-invalid`, naming the JSON pointer. [any-thread]
[[nodiscard]] Result<Value> decode_value(const nlohmann::json& json);
[[nodiscard]] Result<Counters> decode_counters(const nlohmann::json& json);
[[nodiscard]] Result<ValueMap> decode_value_map(const nlohmann::json& json);
[[nodiscard]] Result<Fact> decode_fact(const nlohmann::json& json);
[[nodiscard]] Result<HostInfo> decode_host_info(const nlohmann::json& json);
[[nodiscard]] Result<stats::Histogram> decode_histogram(const nlohmann::json& json);
[[nodiscard]] Result<StreamRecord> decode_stream_record(const nlohmann::json& json);
[[nodiscard]] Result<LatencyRecord> decode_latency_record(const nlohmann::json& json);
[[nodiscard]] Result<EndRecord> decode_end_record(const nlohmann::json& json);
[[nodiscard]] Result<Round> decode_round(const nlohmann::json& json);
[[nodiscard]] Result<TunableRecord> decode_tunable_record(const nlohmann::json& json);
[[nodiscard]] Result<Summary> decode_summary(const nlohmann::json& json);
[[nodiscard]] Result<Measurement> decode_measurement(const nlohmann::json& json);
[[nodiscard]] Result<Finding> decode_finding(const nlohmann::json& json);
[[nodiscard]] Result<PathMtu> decode_path_mtu(const nlohmann::json& json);
[[nodiscard]] Result<Error> decode_error(const nlohmann::json& json);
[[nodiscard]] Result<RunInfo> decode_run_info(const nlohmann::json& json);
/// Does not look at `schema`: report/document checks and upgrades first. `lenient`: members may be
/// missing and keep their defaults (a document written by hand); types stay strict.
[[nodiscard]] Result<Document> decode_document(const nlohmann::json& json, bool lenient = false);

/// Compact JSON text on one line. Bytes that are not UTF-8 become U+FFFD. Never throws.
[[nodiscard]] std::string to_json_text(const nlohmann::ordered_json& json);

/// Parses a short text from another process (a frame of the control channel). At most 64 levels
/// deep. Errors: `document-invalid` with the byte position. Never throws.
[[nodiscard]] Result<nlohmann::json> parse_json_text(std::string_view text);

}  // namespace netbench
