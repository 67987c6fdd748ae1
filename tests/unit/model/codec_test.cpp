#include "bench/model/codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/stats/rng.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

json reread(const ordered_json& encoded) { return json::parse(to_json_text(encoded)); }

json sample_json() { return reread(encode(test::sample_document())); }

std::string message_of(const json& document) {
  const Result<Document> result = decode_document(document);
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(result ? "" : result.error().slug, "document-invalid");
  return result ? "" : result.error().message;
}

TEST(Codec, ReadsBackWhatItWrote) {
  const Document document = test::sample_document();
  const Result<Document> decoded = decode_document(reread(encode(document)));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_TRUE(*decoded == document);
  EXPECT_EQ(encode(*decoded), encode(document));
}

TEST(Codec, ReadsBackAFailedRunWithoutMeasurements) {
  const Document document = test::failed_document();
  const Result<Document> decoded = decode_document(reread(encode(document)));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_TRUE(*decoded == document);
}

TEST(Codec, EveryPartOfADocumentCanTravelAlone) {
  const Document document = test::sample_document();
  const Measurement& row = document.measurements[6];
  EXPECT_EQ(decode_measurement(reread(encode(row))).value(), row);
  EXPECT_EQ(decode_summary(reread(encode(row.summary))).value(), row.summary);
  EXPECT_EQ(decode_round(reread(encode(row.rounds[0]))).value(), row.rounds[0]);
  EXPECT_EQ(decode_stream_record(reread(encode(*row.rounds[0].reverse))).value(),
            *row.rounds[0].reverse);
  EXPECT_EQ(decode_end_record(reread(encode(row.rounds[0].initiator))).value(),
            row.rounds[0].initiator);
  EXPECT_EQ(decode_counters(reread(encode(row.rounds[0].initiator.counters))).value(),
            row.rounds[0].initiator.counters);
  EXPECT_EQ(decode_tunable_record(reread(encode(row.tunables))).value(), row.tunables);
  EXPECT_EQ(decode_value_map(reread(encode(document.config))).value(), document.config);
  EXPECT_EQ(decode_host_info(reread(encode(document.hosts.at("h0")))).value(),
            document.hosts.at("h0"));
  EXPECT_EQ(decode_fact(reread(encode(document.hosts.at("h0").facts[0]))).value(),
            document.hosts.at("h0").facts[0]);
  EXPECT_EQ(decode_finding(reread(encode(document.findings[0]))).value(), document.findings[0]);
  EXPECT_EQ(decode_run_info(reread(encode(document.run))).value(), document.run);
  EXPECT_EQ(decode_path_mtu(reread(encode(document.run.path_mtu))).value(), document.run.path_mtu);
  EXPECT_EQ(decode_error(reread(encode(*document.measurements[7].error))).value(),
            *document.measurements[7].error);
  const LatencyRecord& latency = *document.measurements[0].rounds[0].latency;
  EXPECT_EQ(decode_latency_record(reread(encode(latency))).value(), latency);
  EXPECT_EQ(decode_histogram(reread(encode(latency.histogram))).value(), latency.histogram);
}

TEST(Codec, KeepsTheTypeOfAValue) {
  for (const Value& value :
       {Value{}, Value{true}, Value{std::int64_t{5}}, Value{5.0}, Value{-0.125},
        Value{std::string("auto")}, Value{std::numeric_limits<std::int64_t>::min()},
        Value{std::numeric_limits<std::int64_t>::max()}}) {
    EXPECT_EQ(decode_value(reread(encode(value))).value(), value);
  }
}

TEST(Codec, ReadsBackRandomHistogramsBucketForBucket) {
  stats::Rng rng(7);
  for (int run = 0; run < 20; ++run) {
    stats::Histogram histogram;
    for (int i = 0; i < 1000; ++i) {
      histogram.record(rng.next() >> (rng.next() % 60), 1 + rng.next() % 1000);
    }
    const stats::Histogram decoded = decode_histogram(reread(encode(histogram))).value();
    EXPECT_EQ(decoded.sparse(), histogram.sparse());
    EXPECT_EQ(decoded.min(), histogram.min());
    EXPECT_EQ(decoded.max(), histogram.max());
    EXPECT_EQ(decoded.count(), histogram.count());
  }
}

TEST(Codec, ReadsBackAnEmptyHistogram) {
  EXPECT_EQ(decode_histogram(reread(encode(stats::Histogram{}))).value(), stats::Histogram{});
}

TEST(Codec, NamesTheKeysOfTheDesign) {
  const json document = sample_json();
  EXPECT_EQ(document["schema"]["name"], "netbench.result");
  EXPECT_EQ(document["schema"]["major"], 1);
  EXPECT_TRUE(document["error"].is_null());
  const json& summary = document["measurements"][0]["summary"];
  EXPECT_DOUBLE_EQ(summary["rtt_ns"]["p50"].get<double>(), 22'400);
  EXPECT_TRUE(summary["ceiling_bps"].is_null());
  EXPECT_FALSE(summary.contains("goodput_bps"));
  const json& row = document["measurements"][3];
  EXPECT_EQ(row["tunables"]["effective"]["responder"]["tcp.rcvbuf"], 6 << 20);
  EXPECT_EQ(row["rounds"][0]["counters"]["initiator"]["tcp_info.total_retrans"], 3.0);
  EXPECT_EQ(row["rounds"][0]["stop_reason"], "converged");
  EXPECT_EQ(row["rounds"][0]["warmup_cut_ns"], 500'000'000);
  EXPECT_EQ(row["rounds"][0]["forward"]["series"]["end_ns"].size(), 2U);
  EXPECT_EQ(document["measurements"][7]["error"]["code"], "peer-vanished");
}

TEST(Codec, ARoundsStopReasonIsTheWorstOfItsRecords) {
  EXPECT_EQ(sample_json()["measurements"][6]["rounds"][0]["stop_reason"], "max_time");
}

TEST(Codec, NumbersThatAreNotFiniteBecomeNullOrAbsent) {
  Measurement row = test::stream_row("x", 1, std::nan(""));
  row.summary.jitter_ns = std::numeric_limits<double>::infinity();
  row.rounds[0].initiator.counters["tcp_info.rtt"] = std::nan("");
  const std::string text = to_json_text(encode(row));
  EXPECT_EQ(text.find(":nan"), std::string::npos);
  EXPECT_EQ(text.find(":inf"), std::string::npos);
  const json encoded = json::parse(text);
  EXPECT_FALSE(encoded["summary"].contains("goodput_bps"));
  EXPECT_FALSE(encoded["summary"].contains("jitter_ns"));
  EXPECT_TRUE(encoded["rounds"][0]["forward"]["goodput_bps"].is_null());
  const Measurement decoded = decode_measurement(encoded).value();
  EXPECT_TRUE(std::isnan(decoded.rounds[0].forward->goodput_bps));
  EXPECT_TRUE(std::isnan(decoded.rounds[0].initiator.counters.at("tcp_info.rtt")));
}

TEST(Codec, BytesThatAreNotUtf8DoNotStopTheWriter) {
  Fact fact{"dmi.vendor", std::string("Gr\xfc\xdf"), "/sys", ""};
  const json encoded = json::parse(to_json_text(encode(fact)));
  EXPECT_EQ(encoded["value"], "Gr\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Codec, IgnoresKeysOfANewerMinorVersion) {
  json document = sample_json();
  document["measurements"][0]["summary"]["rtt_ns"]["p9999"] = 5;
  document["novelty"] = {{"a", 1}};
  EXPECT_TRUE(decode_document(document).value() == test::sample_document());
}

TEST(Codec, NamesThePointerOfAWrongType) {
  json document = sample_json();
  document["measurements"][3]["rounds"][1]["counters"]["responder"]["if.eth1.rx_bytes"] = "many";
  EXPECT_EQ(message_of(document),
            "/measurements/3/rounds/1/counters/responder/if.eth1.rx_bytes: expected a number, "
            "found \"many\"");
}

TEST(Codec, NamesThePointerOfAMissingKey) {
  json document = sample_json();
  document["measurements"][2].erase("transport");
  EXPECT_EQ(message_of(document), "/measurements/2/transport: the key is missing");
}

TEST(Codec, EscapesThePointer) {
  json document = sample_json();
  document["config"]["a/b~c"] = json::array();
  EXPECT_EQ(message_of(document),
            "/config/a~1b~0c: expected null, true, false, a number or a text, found an array");
}

TEST(Codec, RefusesWhatIsNotWithinItsType) {
  const std::vector<std::pair<json::json_pointer, json>> misfits{
      {json::json_pointer("/measurements/0/size_bytes"), 1.5},
      {json::json_pointer("/measurements/0/size_bytes"), 9223372036854775808U},
      {json::json_pointer("/measurements/0/size_bytes"), true},
      {json::json_pointer("/measurements/0/summary/n_rounds"), -1},
      {json::json_pointer("/measurements/0/summary/n_rounds"), 4294967296},
      {json::json_pointer("/measurements/0/direction"), "sideways"},
      {json::json_pointer("/measurements/0/status"), "fine"},
      {json::json_pointer("/measurements/0/flags"), "capped"},
      {json::json_pointer("/measurements/0/flags"), {1}},
      {json::json_pointer("/measurements/7/error/exit_code"), 42},
      {json::json_pointer("/measurements"), json::object()},
      {json::json_pointer("/hosts"), json::array()},
      {json::json_pointer("/run/authenticated"), 1},
      {json::json_pointer("/run"), nullptr},
      {json::json_pointer("/measurements/0/rounds/0/latency/histogram/count"), 5},
      {json::json_pointer("/measurements/0/rounds/0/latency/histogram/counts/0"), 0},
      {json::json_pointer("/measurements/0/rounds/0/latency/histogram/counts"), {1}},
      {json::json_pointer("/measurements/2/rounds/0/forward/series/bytes"), {1}},
      {json::json_pointer("/measurements/2/rounds/0/forward/series/bytes/0"), nullptr},
      {json::json_pointer("/config/seed"), 18446744073709551615U},
  };
  for (const auto& [pointer, value] : misfits) {
    json document = sample_json();
    document[pointer] = value;
    EXPECT_NE(message_of(document), "") << pointer.to_string();
  }
}

/// Puts a value of each JSON type in the place of every value of a document, one at a time.
TEST(Codec, NeverThrowsWhateverStandsInAnyPlace) {
  std::size_t accepted = 0;
  Document small = test::failed_document();
  small.measurements = {test::stream_row("s", 1, 1e9), test::latency_row("l", 1, 1e4)};
  const json whole = reread(encode(small));
  const json flat = whole.flatten();
  for (const auto& [pointer, unused] : flat.items()) {
    for (const json& value : {json(), json(true), json(-1), json(1e300), json("x"), json::array(),
                              json::object(), json({1, "a"})}) {
      json changed = whole;
      changed[json::json_pointer(pointer)] = value;
      EXPECT_NO_THROW(accepted += decode_document(changed).has_value() ? 1 : 0);
    }
  }
  EXPECT_GT(accepted, 0U);
}

TEST(Codec, ParsesAShortTextOrSaysWhereItBreaks) {
  EXPECT_EQ(parse_json_text(R"({"a": [1]})").value(), json({{"a", {1}}}));
  const Result<json> broken = parse_json_text(R"({"a": )");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().slug, "document-invalid");
  EXPECT_NE(broken.error().message.find("column 7"), std::string::npos) << broken.error().message;
}

TEST(Codec, RefusesTextsNestedTooDeep) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(parse_json_text(deep).has_value());
  EXPECT_TRUE(parse_json_text(std::string(60, '[') + std::string(60, ']')).has_value());
}

}  // namespace
}  // namespace netbench
