#include "bench/model/codec.hpp"

#include "bench/model/coder.hpp"

namespace netbench {

namespace {

using coder::Coder;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMaxTextDepth = 64;

template <class T>
Result<T> decode(const json& value, bool lenient = false) {
  Error error;
  T out;
  if (Coder<T>::read(coder::Place{.value = value, .error = error, .lenient = lenient}, out)) {
    return out;
  }
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

ordered_json encode(const Value& value) { return Coder<Value>::write(value); }
ordered_json encode(const Counters& counters) { return Coder<Counters>::write(counters); }
ordered_json encode(const ValueMap& values) { return Coder<ValueMap>::write(values); }
ordered_json encode(const Fact& fact) { return Coder<Fact>::write(fact); }
ordered_json encode(const HostInfo& host) { return Coder<HostInfo>::write(host); }
ordered_json encode(const stats::Histogram& histogram) {
  return Coder<stats::Histogram>::write(histogram);
}
ordered_json encode(const StreamRecord& record) { return Coder<StreamRecord>::write(record); }
ordered_json encode(const LatencyRecord& record) { return Coder<LatencyRecord>::write(record); }
ordered_json encode(const EndRecord& record) { return Coder<EndRecord>::write(record); }
ordered_json encode(const Round& round) { return Coder<Round>::write(round); }
ordered_json encode(const TunableRecord& record) { return Coder<TunableRecord>::write(record); }
ordered_json encode(const Summary& summary) { return Coder<Summary>::write(summary); }
ordered_json encode(const Measurement& measurement) {
  return Coder<Measurement>::write(measurement);
}
ordered_json encode(const Finding& finding) { return Coder<Finding>::write(finding); }
ordered_json encode(const Intervention& intervention) {
  return Coder<Intervention>::write(intervention);
}
ordered_json encode(const PathMtu& path_mtu) { return Coder<PathMtu>::write(path_mtu); }
ordered_json encode(const Error& error) { return Coder<Error>::write(error); }
ordered_json encode(const RunInfo& run) { return Coder<RunInfo>::write(run); }

ordered_json encode(const Document& document) {
  constexpr std::size_t kKeys = 9;
  ordered_json object = coder::object_for(kKeys);
  coder::append(object, "schema",
                {{"name", kSchemaName}, {"major", kSchemaMajor}, {"minor", kSchemaMinor}});
  Coder<Document>::write_into(object, document);
  return object;
}

Result<Value> decode_value(const json& value) { return decode<Value>(value); }
Result<Counters> decode_counters(const json& value) { return decode<Counters>(value); }
Result<ValueMap> decode_value_map(const json& value) { return decode<ValueMap>(value); }
Result<Fact> decode_fact(const json& value) { return decode<Fact>(value); }
Result<HostInfo> decode_host_info(const json& value) { return decode<HostInfo>(value); }
Result<stats::Histogram> decode_histogram(const json& value) {
  return decode<stats::Histogram>(value);
}
Result<StreamRecord> decode_stream_record(const json& value) { return decode<StreamRecord>(value); }
Result<LatencyRecord> decode_latency_record(const json& value) {
  return decode<LatencyRecord>(value);
}
Result<EndRecord> decode_end_record(const json& value) { return decode<EndRecord>(value); }
Result<Round> decode_round(const json& value) { return decode<Round>(value); }
Result<TunableRecord> decode_tunable_record(const json& value) {
  return decode<TunableRecord>(value);
}
Result<Summary> decode_summary(const json& value) { return decode<Summary>(value); }
Result<Measurement> decode_measurement(const json& value) { return decode<Measurement>(value); }
Result<Finding> decode_finding(const json& value) { return decode<Finding>(value); }
Result<PathMtu> decode_path_mtu(const json& value) { return decode<PathMtu>(value); }
Result<Error> decode_error(const json& value) { return decode<Error>(value); }
Result<RunInfo> decode_run_info(const json& value) { return decode<RunInfo>(value); }
Result<Document> decode_document(const json& value, bool lenient) {
  return decode<Document>(value, lenient);
}

std::string to_json_text(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<json> parse_json_text(std::string_view text) {
  const auto depth_guard = [](int depth, json::parse_event_t, json&) {
    if (depth > kMaxTextDepth) {
      throw std::length_error("it is nested too deep");
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), depth_guard);
  } catch (const std::exception& failure) {
    return fail("document-invalid", fmt::format("not JSON: {}", failure.what()));
  }
}

}  // namespace netbench
