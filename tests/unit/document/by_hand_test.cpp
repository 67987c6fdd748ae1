// Documents written by hand, as from a support ticket, and numbers that cannot be.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/document/document.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

using nlohmann::json;

constexpr ReadLimits kByHand{.by_hand = true};

json small() {
  return json::parse(R"({
    "schema": {"name": "netbench.result", "major": 1},
    "hosts": {"h0": {"facts": [{"key": "if.eth0.mtu_bytes", "value": 1500}]}},
    "measurements": [{
      "transport": "tcp", "workload": "bandwidth", "direction": "forward",
      "summary": {"goodput_bps": 4.1e8},
      "rounds": [{"counters": {"initiator": {"tcp_info.rtt_us": 10200}}}]
    }]
  })");
}

Error error_of(const json& tree) {
  const auto read = parse_document(tree.dump(), "ticket.json", kByHand);
  EXPECT_FALSE(read.has_value());
  return read ? Error{} : read.error();
}

TEST(ByHand, WhatIsMissingHasItsDefault) {
  const auto document = parse_document(small().dump(), "ticket.json", kByHand);
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->status, DocumentStatus::ok);
  EXPECT_EQ(document->hosts.at("h0").facts.at(0).key, "if.eth0.mtu_bytes");
  EXPECT_EQ(document->measurements.at(0).summary.goodput_bps, 4.1e8);
  EXPECT_EQ(document->measurements[0].rounds.at(0).initiator.counters.at("tcp_info.rtt_us"), 10200);
  EXPECT_EQ(document->measurements[0].status, MeasurementStatus::ok);
}

TEST(ByHand, TheSchemaAloneIsADocument) {
  const auto document = parse_document(R"({"schema": {"name": "netbench.result", "major": 1}})",
                                       "ticket.json", kByHand);
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(*document, Document{});
}

TEST(ByHand, OtherReadersWantEveryMember) {
  EXPECT_EQ(parse_document(small().dump(), "ticket.json").error().slug, "document-other-schema");
  json tree = small();
  tree["schema"]["minor"] = 0;
  const Error error = parse_document(tree.dump(), "ticket.json").error();
  EXPECT_EQ(error.slug, "document-invalid");
  EXPECT_NE(error.message.find("the key is missing"), std::string::npos) << error.message;
}

TEST(ByHand, WholeDocumentsAreReadAsEver) {
  const Document document = test::sample_document();
  EXPECT_TRUE(parse_document(document_text(document), "r.json", kByHand).value() == document);
}

TEST(ByHand, AWrongTypeIsStillRefusedWithItsPlace) {
  json tree = small();
  tree["hosts"]["h0"]["facts"][0]["value"] = json::array();
  const Error error = error_of(tree);
  EXPECT_EQ(error.slug, "document-invalid");
  EXPECT_TRUE(error.message.starts_with("ticket.json: /hosts/h0/facts/0/value: expected"))
      << error.message;
}

TEST(ByHand, PartOfAHistogramIsRefused) {
  json tree = small();
  tree["measurements"][0]["rounds"][0]["latency"]["histogram"]["count"] = 3;
  EXPECT_EQ(error_of(tree).slug, "document-invalid");
}

TEST(ByHand, ANewerMajorVersionIsRefused) {
  json tree = small();
  tree["schema"]["major"] = 2;
  EXPECT_EQ(error_of(tree).slug, "document-newer");
}

TEST(Plausible, RefusesACounterThatWentBackwards) {
  json tree = small();
  tree["measurements"][0]["rounds"][0]["counters"]["responder"]["if.eth0/1.rx_bytes"] = -17;
  const Error error = error_of(tree);
  EXPECT_EQ(error.slug, "document-implausible");
  EXPECT_EQ(error.message,
            "ticket.json: /measurements/0/rounds/0/counters/responder/if.eth0~11.rx_bytes: "
            "expected a number of at least 0, found -17");
  EXPECT_FALSE(error.remedy.empty());
}

TEST(Plausible, RefusesNegativeTimesRatesAndSizes) {
  const std::vector<std::pair<json::json_pointer, json>> wrong{
      {json::json_pointer("/measurements/0/summary/goodput_bps"), -1.0},
      {json::json_pointer("/measurements/0/size_bytes"), -1},
      {json::json_pointer("/measurements/0/rounds/0/duration_ns"), -5},
      {json::json_pointer("/measurements/0/rounds/0/cpu_s/initiator"), -2.0}};
  for (const auto& [pointer, value] : wrong) {
    json tree = small();
    tree[pointer] = value;
    const Error error = error_of(tree);
    EXPECT_EQ(error.slug, "document-implausible") << pointer;
    EXPECT_NE(error.message.find(pointer.to_string()), std::string::npos) << error.message;
  }
}

TEST(Plausible, RefusesASeriesThatRunsBackwards) {
  json tree = small();
  tree["measurements"][0]["rounds"][0]["forward"]["series"] = {
      {"end_ns", {20, 10}}, {"duration_ns", {10, 10}}, {"bytes", {1, 1}}};
  const Error error = error_of(tree);
  EXPECT_EQ(error.slug, "document-implausible");
  EXPECT_NE(error.message.find("/measurements/0/rounds/0/forward/series/end_ns/1"),
            std::string::npos);
}

TEST(Plausible, LetsPassWhatRoundingMakesOfNothing) {
  json tree = small();
  tree["measurements"][0]["rounds"][0]["counters"]["initiator"]["send.blocked_s"] = -0.001;
  tree["measurements"][0]["rounds"][0]["counters"]["initiator"]["tcp_info.unknown"] = nullptr;
  EXPECT_TRUE(parse_document(tree.dump(), "ticket.json", kByHand).has_value());
}

TEST(ByHand, RandomlyDamagedTextNeverCrashes) {
  const std::string text = document_text(test::sample_document());
  std::uint32_t state = 4711;
  for (int run = 0; run < 200; ++run) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) {
      state = state * 1664525U + 1013904223U;
      damaged[state % damaged.size()] = static_cast<char>(state >> 24);
    }
    EXPECT_NO_THROW(static_cast<void>(parse_document(damaged, "r.json", kByHand).has_value()));
  }
}

}  // namespace
}  // namespace netbench::report
