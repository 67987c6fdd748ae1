#include "bench/cli/diagnose_codec.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/model/codec.hpp"

namespace netbench::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kOutcomes{"fires", "silent", "unknown"};
constexpr std::array<std::string_view, 4> kConfidences{"confirmed", "likely", "possible",
                                                       "excluded"};

/// null where the bound could not be computed.
ordered_json number(const std::optional<double>& value) {
  return value ? encode(Value{*value}) : ordered_json();
}

ordered_json json_of(const report::Bound& bound) {
  return {{"id", bound.id},
          {"name", bound.name},
          {"end", bound.end},
          {"limit_bps", number(bound.limit_bps)},
          {"nearness", number(bound.nearness)},
          {"arithmetic", bound.arithmetic},
          {"evidence", bound.evidence}};
}

ordered_json json_of(const report::RankedBounds& ranked) {
  ordered_json bounds = ordered_json::array();
  for (const report::Bound& bound : ranked.bounds) {
    bounds.push_back(json_of(bound));
  }
  return {{"row", ranked.row}, {"bounds", std::move(bounds)}};
}

ordered_json json_of(const report::Trace& trace) {
  const report::Verdict& verdict = trace.verdict;
  ordered_json object = {{"rule", trace.rule},
                         {"class_id", trace.class_id},
                         {"row", trace.row},
                         {"outcome", kOutcomes.at(static_cast<std::size_t>(verdict.outcome))},
                         {"why", verdict.why}};
  if (verdict.outcome == report::Outcome::fires) {
    object["confidence"] = kConfidences.at(static_cast<std::size_t>(verdict.confidence));
    object["nearness"] = number(verdict.nearness);
  }
  return object;
}

ordered_json json_of(const report::Experiment& experiment) {
  return {{"id", experiment.id},
          {"row", experiment.row},
          {"change", experiment.change},
          {"tunables", encode(experiment.tunables)},
          {"size_bytes", experiment.size_bytes}};
}

template <class T>
ordered_json list_of(const std::vector<T>& items) {
  ordered_json list = ordered_json::array();
  for (const T& item : items) {
    if constexpr (std::is_same_v<T, Finding>) {
      list.push_back(encode(item));
    } else {
      list.push_back(json_of(item));
    }
  }
  return list;
}

ordered_json json_of(const NamedDiagnosis& named) {
  return {{"file", named.file},
          {"findings", list_of(named.diagnosis.findings)},
          {"bounds", list_of(named.diagnosis.bounds)},
          {"trace", list_of(named.diagnosis.trace)},
          {"experiments", list_of(named.diagnosis.experiments)}};
}

}  // namespace

std::string diagnosis_json(const std::vector<NamedDiagnosis>& diagnoses) {
  ordered_json documents = ordered_json::array();
  for (const NamedDiagnosis& named : diagnoses) {
    documents.push_back(json_of(named));
  }
  return to_json_text({{"documents", std::move(documents)}}) + "\n";
}

}  // namespace netbench::cli
