#include "bench/model/texts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench {
namespace {

std::multimap<std::string, std::string> texts_of(Document document) {
  std::multimap<std::string, std::string> texts;
  for_each_text(document,
                [&](std::string_view key, std::string& text) { texts.emplace(key, text); });
  return texts;
}

TEST(ForEachText, FindsTextsAtEveryDepth) {
  const auto texts = texts_of(test::sample_document());
  EXPECT_EQ(texts.find("netbench_version")->second, "0.1.0");
  EXPECT_EQ(texts.find("boot_id")->second, "5f1c7d52-0b9e-4d1c-9d52-2f4c8a3b1e00");
  EXPECT_EQ(texts.count("addresses"), 4U);
  EXPECT_EQ(texts.count("if.eth1.mac"), 2U);
  EXPECT_EQ(texts.count("command_line"), 5U);
  EXPECT_EQ(texts.find("profile")->second, "default");
  EXPECT_GT(texts.count("stop_reason"), 10U);
}

TEST(ForEachText, ChangesTextsInPlace) {
  Document document = test::sample_document();
  for_each_text(document, [](std::string_view, std::string& text) { text = "X"; });
  EXPECT_EQ(document.hosts.at("h1").facts[0].value, Value{std::string("X")});
  EXPECT_EQ(document.measurements[4].flags, std::set<std::string>{"X"});
  EXPECT_EQ(document.findings[0].remedy, std::vector<std::string>{"X"});
  EXPECT_EQ(document.measurements[7].error->message, "X");
}

}  // namespace
}  // namespace netbench
