// The real threads of tests/golden/tickets, read as a user's document would be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "report/diagnose/diagnose.hpp"
#include "report/document/document.hpp"

namespace netbench::report {
namespace {

struct Ticket {
  std::string name;
  Document document;
  std::string expected;  // "L05|L06", "unknown"
};

std::string config_text(const Document& document, const std::string& key) {
  const auto found = document.config.find(key);
  const auto* text =
      found == document.config.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

std::vector<Ticket> tickets() {
  std::vector<Ticket> all;
  const std::filesystem::path folder = std::string(NETBENCH_GOLDEN_FOLDER) + "/tickets";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    auto document = read_document(entry.path().string(), {.by_hand = true});
    EXPECT_TRUE(document.has_value()) << document.error().message;
    if (document) {
      const std::string expected = config_text(*document, "expected_class");
      all.push_back({entry.path().stem().string(), std::move(*document), expected});
    }
  }
  std::ranges::sort(all, {}, &Ticket::name);
  return all;
}

bool names(const std::string& expected, const std::string& class_id) {
  return !class_id.empty() &&
         fmt::format("|{}|", expected).find(fmt::format("|{}|", class_id)) != std::string::npos;
}

bool is_right(const Ticket& ticket, const Finding& first) {
  return ticket.expected == "unknown" ? first.id.starts_with("unknown.")
                                      : names(ticket.expected, first.class_id);
}

TEST(Threads, HaveASourceAndAnExpectedClass) {
  const auto all = tickets();
  EXPECT_GE(all.size(), 35U);
  for (const Ticket& ticket : all) {
    EXPECT_TRUE(config_text(ticket.document, "ticket").starts_with("https://")) << ticket.name;
    EXPECT_FALSE(config_text(ticket.document, "symptom").empty()) << ticket.name;
    EXPECT_FALSE(ticket.expected.empty()) << ticket.name;
  }
}

TEST(Threads, AreDiagnosedWithTheirTrueCauseFirst) {
  std::size_t right = 0;
  std::string wrong;
  std::size_t judged = 0;
  for (const Ticket& ticket : tickets()) {
    if (ticket.expected == "unknown") {
      continue;
    }
    ++judged;
    const Finding first = diagnose(ticket.document).findings.at(0);
    if (is_right(ticket, first)) {
      ++right;
    } else {
      wrong += fmt::format("\n  {}: {} expected, {} {} found: {}", ticket.name, ticket.expected,
                           first.class_id, first.id, first.cause);
    }
  }
  RecordProperty("right", static_cast<int>(right));
  EXPECT_GE(10 * right, 9 * judged) << right << " of " << judged << wrong;
}

TEST(Threads, WithoutAProvenCauseAreUnknownAndSayWhatToDoNext) {
  for (const Ticket& ticket : tickets()) {
    if (ticket.expected != "unknown") {
      continue;
    }
    const Finding first = diagnose(ticket.document).findings.at(0);
    EXPECT_TRUE(is_right(ticket, first)) << ticket.name << ": " << first.id << ": " << first.cause;
    EXPECT_FALSE(first.remedy.empty()) << ticket.name;
  }
}

}  // namespace
}  // namespace netbench::report
