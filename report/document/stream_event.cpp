#include "report/document/stream_event.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "bench/model/codec.hpp"

namespace netbench::report {

namespace {

using nlohmann::ordered_json;

ordered_json point_head(std::string_view event, const Measurement& measurement) {
  return {{"event", event},
          {"id", measurement.id},
          {"transport", measurement.transport},
          {"workload", measurement.workload},
          {"direction", to_string(measurement.direction)},
          {"size_bytes", measurement.size_bytes}};
}

void add_quantile(ordered_json& line, const char* key, const stats::Histogram& histogram,
                  double q) {
  if (const auto value = histogram.reportable_quantile(q)) {
    line[key] = *value;
  }
}

void add_latency(ordered_json& line, const LatencyRecord& latency) {
  line["n_samples"] = latency.histogram.count();
  line["rtt_p50_ns"] = encode(Value{latency.median_ns});
  add_quantile(line, "rtt_p90_ns", latency.histogram, 0.9);
  add_quantile(line, "rtt_p99_ns", latency.histogram, 0.99);
  line["rtt_max_ns"] = latency.histogram.max();
}

}  // namespace

std::string round_event(const Measurement& measurement, const Round& round) {
  ordered_json line = point_head("round", measurement);
  const ordered_json encoded = encode(round);
  line["round"] = round.index;
  line["started_utc"] = round.started_utc;
  line["duration_ns"] = round.duration_ns;
  if (round.forward) {
    line["goodput_forward_bps"] = encode(Value{round.forward->goodput_bps});
  }
  if (round.reverse) {
    line["goodput_reverse_bps"] = encode(Value{round.reverse->goodput_bps});
  }
  if (round.latency) {
    add_latency(line, *round.latency);
  }
  line["stop_reason"] = encoded["stop_reason"];
  line["flags"] = encoded["flags"];
  return to_json_text(line);
}

std::string point_event(const Measurement& measurement) {
  ordered_json line = point_head("point", measurement);
  line["status"] = encode(measurement)["status"];
  line["error"] = measurement.error ? encode(*measurement.error) : ordered_json();
  return to_json_text(line);
}

std::string finished_event(const Document& document) {
  Document head;
  head.status = document.status;
  return to_json_text({{"event", "finished"},
                       {"status", encode(head)["status"]},
                       {"n_measurements", document.measurements.size()},
                       {"error", document.error ? encode(*document.error) : ordered_json()}});
}

}  // namespace netbench::report
