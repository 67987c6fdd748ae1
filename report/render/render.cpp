#include "report/render/render.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/render/columns.hpp"
#include "report/render/configuration.hpp"
#include "report/render/notes.hpp"
#include "report/render/rfc6349.hpp"
#include "report/render/summary.hpp"
#include "report/render/table.hpp"
#include "report/render/verdict.hpp"

namespace netbench::report {

namespace {

constexpr std::string_view kLegend =
    "i/r: initiator/responder; n: rounds; stop: conv = the precision was reached, noise = the "
    "interval no longer narrowed, max = the time was up";

constexpr int kMarkdownWidth = 100;  // of the error, which stands in a code block

/// Sections that are lists of paragraphs, in their order.
struct Section {
  std::string title;
  std::vector<std::string> paragraphs;
};

std::vector<Table> tables_of(const Document& document, bool verbose) {
  std::vector<Table> tables = result_tables(document, verbose);
  if (auto metrics = rfc6349_table(document)) {
    tables.push_back(std::move(*metrics));
  }
  return tables;
}

std::vector<Section> closing_sections(const Document& document) {
  std::vector<std::string> notes = notes_of(document);
  for (const Measurement& row : document.measurements) {
    if (!row.summary.stop_reasons.empty()) {
      notes.emplace_back(kLegend);
      break;
    }
  }
  return {{"Notes", std::move(notes)}, {"Summary", plain_summary(document)}};
}

std::string section_text(const Section& section, const RenderOptions& options) {
  if (section.paragraphs.empty()) {
    return {};
  }
  std::string text = "\n" + toned(section.title, Tone::strong, options.color) + "\n";
  for (const std::string& paragraph : section.paragraphs) {
    text += wrapped("- " + paragraph, options.width, 2) + "\n";
  }
  return text;
}

std::string error_text(const Document& document, int width) {
  if (!document.error) {
    return {};
  }
  const Error& error = *document.error;
  const std::string remedy =
      error.remedy.empty() ? std::string() : wrapped("  " + error.remedy, width, 2) + "\n";
  return wrapped(fmt::format("error[{}]: {}", error.slug, error.message), width, 2) + "\n" + remedy;
}

}  // namespace

std::string render_text(const Document& document, const RenderOptions& options) {
  std::string text =
      toned(wrapped(headline(document), options.width, 2), Tone::strong, options.color) + "\n";
  text += toned(error_text(document, options.width), Tone::problem, options.color);
  text += section_text({"Configuration", configuration_lines(document, options.verbose)}, options);
  for (const Table& table : tables_of(document, options.verbose)) {
    text += "\n" + table_text(table, options.width, options.color);
  }
  for (const Section& section : closing_sections(document)) {
    text += section_text(section, options);
  }
  const std::string verdict = verdict_text(document, {options.color, options.width});
  return verdict.empty() ? text : text + "\n" + verdict;
}

std::string render_markdown(const Document& document) {
  const auto list = [](const Section& section) {
    std::string text;
    for (const std::string& paragraph : section.paragraphs) {
      text += fmt::format("- {}\n", markdown_escaped(paragraph));
    }
    return text.empty() ? text : fmt::format("\n### {}\n\n{}", section.title, text);
  };
  std::string text = fmt::format("## {}\n", markdown_escaped(headline(document)));
  if (document.error) {
    text += fmt::format("\n```\n{}```\n", error_text(document, kMarkdownWidth));
  }
  text += list({"Configuration", configuration_lines(document, true)});
  for (const Table& table : tables_of(document, false)) {
    text += "\n" + table_markdown(table);
  }
  for (const Section& section : closing_sections(document)) {
    text += list(section);
  }
  return text + list({"Findings", finding_texts(document)});
}

}  // namespace netbench::report
