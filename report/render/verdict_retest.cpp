#include "report/render/verdict_retest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "report/render/format.hpp"
#include "report/render/verdict_evidence.hpp"

namespace netbench::report {

namespace {

/// A word as a POSIX shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return text + "'";
}

struct Dropped {
  std::string_view option;
  bool has_value;
};

/// Options that write to files, which are never overwritten, go on with one, or say less.
constexpr std::array<Dropped, 7> kDropped{{{"--json", true},
                                           {"--csv", true},
                                           {"--markdown", true},
                                           {"--stream", false},
                                           {"--quiet", false},
                                           {"-q", false},
                                           {"--resume", false}}};

/// The run's command line without its outputs.
std::string same_command(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view option = std::string_view(words[i]).substr(0, words[i].find('='));
    const auto* dropped = std::ranges::find(kDropped, option, &Dropped::option);
    if (dropped == kDropped.end()) {
      text += (text.empty() ? "" : " ") + quoted(words[i]);
    } else if (dropped->has_value && option == words[i]) {
      ++i;
    }
  }
  return text;
}

std::string connection_words(const Document& document) {
  const std::string peer = peer_of(document);
  std::string text = "--peer " + quoted(peer);
  if (!document.run.authenticated && peer != "self") {
    text += " --insecure";
  }
  const auto& words = document.run.command_line;
  const auto key_file = std::ranges::find(words, "--key-file");
  if (key_file != words.end() && key_file + 1 != words.end()) {
    text += " --key-file " + quoted(*(key_file + 1));
  }
  return text;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<std::pair<std::int64_t, char>, 3> kUnits{
      {{std::int64_t{1} << 30, 'G'}, {1 << 20, 'M'}, {1 << 10, 'K'}}};
  for (const auto& [unit, letter] : kUnits) {
    if (bytes >= unit && bytes % unit == 0) {
      return fmt::format("{}{}", bytes / unit, letter);
    }
  }
  return std::to_string(bytes);
}

/// A tunable that the remedy speaks of is what is to be changed: left out.
bool is_remedied(const std::string& name, const Finding& finding) {
  return std::ranges::any_of(finding.remedy, [&](const std::string& line) {
    return line.find("--" + name) != std::string::npos;
  });
}

std::string row_command(const Document& document, const Measurement& row, const Finding& finding) {
  std::string text =
      fmt::format("netbench pair {} --transport {} --workload {}", connection_words(document),
                  quoted(row.transport), quoted(row.workload));
  if (row.direction != Direction::none) {
    text += " --direction " + to_string(row.direction);
  }
  if (row.size_bytes > 0) {
    text += " --size " + size_text(row.size_bytes);
  }
  if (row.mtu_bytes > 0) {
    text += fmt::format(" --mtu {}", row.mtu_bytes);
  }
  for (const auto& [name, value] : row.tunables.requested) {
    const std::string level = value_text(value);
    text += level == "auto" || is_remedied(name, finding)
                ? ""
                : fmt::format(" {} {}", quoted("--" + name), quoted(level));
  }
  return text;
}

}  // namespace

std::string peer_of(const Document& document) {
  const auto peer = document.config.find("peer");
  if (peer != document.config.end() && std::holds_alternative<std::string>(peer->second)) {
    return std::get<std::string>(peer->second);
  }
  const auto& words = document.run.command_line;
  const auto option = std::ranges::find(words, "--peer");
  if (option != words.end() && option + 1 != words.end()) {
    return *(option + 1);
  }
  const std::string address = address_of(document, "h1");
  return address == "?" ? "HOST" : address;
}

std::string retest_command(const Document& document, const Finding& finding) {
  for (const std::string& pointer : finding.evidence) {
    const int index = row_of_pointer(pointer);
    if (index >= 0 && static_cast<std::size_t>(index) < document.measurements.size()) {
      const Measurement& row = document.measurements[static_cast<std::size_t>(index)];
      if (!row.transport.empty() && !row.workload.empty()) {
        return row_command(document, row, finding);
      }
    }
  }
  const std::string same = same_command(document.run.command_line);
  return same.empty() ? "netbench pair " + connection_words(document) : same;
}

}  // namespace netbench::report
