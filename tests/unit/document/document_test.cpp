#include "report/document/document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/model/codec.hpp"
#include "tests/unit/document/temporary_folder.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

Error error_of(const std::string& text, const ReadLimits& limits = {}) {
  const Result<Document> result = parse_document(text, "r.json", limits);
  EXPECT_FALSE(result.has_value()) << text.substr(0, 100);
  return result ? Error{} : result.error();
}

std::string with_schema(const std::string& schema) {
  nlohmann::json tree = nlohmann::json::parse(document_text(test::failed_document()));
  tree["schema"] = nlohmann::json::parse(schema);
  return tree.dump();
}

TEST(Document, TextReadsBackAsTheSameDocument) {
  const Document document = test::sample_document();
  const Result<Document> read = parse_document(document_text(document), "r.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == document);
}

TEST(Document, TextEqualsTheCodecsValue) {
  const Document document = test::sample_document();
  EXPECT_EQ(nlohmann::ordered_json::parse(document_text(document)), encode(document));
}

TEST(Document, TextHasALineForEachMeasurement) {
  const std::string text = document_text(test::sample_document());
  EXPECT_GE(std::ranges::count(text, '\n'), 12 + 8);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Document, ReadsAFile) {
  const test::TemporaryFolder folder;
  test::write_text(folder.file("r.json"), document_text(test::sample_document()));
  EXPECT_TRUE(read_document(folder.file("r.json")).value() == test::sample_document());
}

TEST(Document, CutAnywhereIsTruncatedAndNeverCrashes) {
  Document document = test::failed_document();
  document.measurements = {test::stream_row("s\xC3\xA4", 1, 1e9)};
  const std::string text = document_text(document);
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const Error error = error_of(text.substr(0, size));
    EXPECT_EQ(error.slug, "document-truncated") << "cut at " << size << ": " << error.message;
  }
}

TEST(Document, CutFilesAreTruncatedToo) {
  const test::TemporaryFolder folder;
  const std::string text = document_text(test::failed_document());
  test::write_text(folder.file("r.json"), text.substr(0, text.size() / 2));
  const Result<Document> result = read_document(folder.file("r.json"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().slug, "document-truncated");
  EXPECT_NE(result.error().message.find(std::to_string(text.size() / 2)), std::string::npos);
}

TEST(Document, TextThatIsNotJsonIsSaidSo) {
  const Error error = error_of("Gbit/s 9.41\n");
  EXPECT_EQ(error.slug, "document-not-json");
  EXPECT_NE(error.message.find("line 1, column 1"), std::string::npos) << error.message;
}

TEST(Document, NanIsNotJson) {
  std::string text = document_text(test::sample_document());
  const std::string key = "\"goodput_bps\":";
  text.replace(text.find(key) + key.size(), 1, "NaN");
  EXPECT_EQ(error_of(text).slug, "document-not-json");
  EXPECT_NE(error_of(text).remedy.find("NaN"), std::string::npos);
}

TEST(Document, ANumberBeyondDoubleIsRefused) {
  std::string text = document_text(test::failed_document());
  const std::string key = "\"forward_bytes\":";
  text.replace(text.find(key) + key.size(), 1, "1e999");
  EXPECT_EQ(error_of(text).slug, "document-not-json");
}

TEST(Document, AnotherSchemaIsNamed) {
  const Error foreign = error_of(with_schema(R"({"name": "other.tool", "major": 1, "minor": 0})"));
  EXPECT_EQ(foreign.slug, "document-other-schema");
  EXPECT_NE(foreign.message.find("other.tool"), std::string::npos);
}

TEST(Document, JsonWithoutASchemaShowsItsKeys) {
  const Error error = error_of(R"({"start": {}, "intervals": [], "end": {}})");
  EXPECT_EQ(error.slug, "document-other-schema");
  EXPECT_NE(error.message.find("start, intervals, end"), std::string::npos) << error.message;
}

TEST(Document, JsonThatIsNoObjectIsAnotherSchema) {
  for (const char* text : {"[1, 2]", "5", "\"text\"", "null", "true"}) {
    EXPECT_EQ(error_of(text).slug, "document-other-schema") << text;
  }
}

TEST(Document, ANewerMajorVersionNamesBoth) {
  const Error error =
      error_of(with_schema(R"({"name": "netbench.result", "major": 7, "minor": 3})"));
  EXPECT_EQ(error.slug, "document-newer");
  EXPECT_NE(error.message.find("7.3"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("1.x"), std::string::npos) << error.message;
}

TEST(Document, ANewerMinorVersionIsRead) {
  EXPECT_TRUE(parse_document(with_schema(R"({"name": "netbench.result", "major": 1, "minor": 9})"),
                             "r.json")
                  .has_value());
}

TEST(Document, AVersionThatNeverWasIsInvalid) {
  EXPECT_EQ(error_of(with_schema(R"({"name": "netbench.result", "major": 0, "minor": 1})")).slug,
            "document-invalid");
}

TEST(Document, AWrongTypeNamesFileAndPointer) {
  nlohmann::json tree = nlohmann::json::parse(document_text(test::sample_document()));
  tree["measurements"][2]["size_bytes"] = "64K";
  const Error error = error_of(tree.dump());
  EXPECT_EQ(error.slug, "document-invalid");
  EXPECT_EQ(error.message,
            "r.json: /measurements/2/size_bytes: expected a whole number, found \"64K\"");
}

TEST(Document, LimitsStopLargeDeepAndLongTexts) {
  EXPECT_EQ(error_of(std::string(101, ' '), {.max_bytes = 100}).slug, "document-too-large");
  EXPECT_EQ(error_of("{\"a\":" + std::string(100, '[')).slug, "document-too-large");
  EXPECT_EQ(error_of("{\"a\":[0,0,0,0,0]}", {.max_values = 4}).slug, "document-too-large");
}

TEST(Document, TwoHundredMegabytesOfNonsenseEndAtTheFirstByte) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("big");
  test::write_text(path, "nonsense");
  std::filesystem::resize_file(path, std::uintmax_t{200} << 20);
  EXPECT_EQ(read_document(path).error().slug, "document-not-json");
  EXPECT_EQ(read_document(path, {.max_bytes = 1000}).error().slug, "document-too-large");
}

TEST(Document, WhatCannotBeOpenedIsUnreadable) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_document(folder.file("none.json")).error().slug, "document-unreadable");
  EXPECT_NE(read_document(folder.file("none.json")).error().message.find("No such file"),
            std::string::npos);
  EXPECT_EQ(read_document(folder.file("")).error().slug, "document-unreadable");
}

TEST(Document, RandomlyDamagedTextNeverCrashes) {
  const std::string text = document_text(test::sample_document());
  std::uint32_t state = 12345;
  for (int run = 0; run < 300; ++run) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) {
      state = state * 1664525U + 1013904223U;
      damaged[state % damaged.size()] = static_cast<char>(state >> 24);
    }
    EXPECT_NO_THROW(static_cast<void>(parse_document(damaged, "r.json").has_value()));
  }
}

}  // namespace
}  // namespace netbench::report
