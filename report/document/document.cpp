#include "report/document/document.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/core/units.hpp"
#include "bench/model/codec.hpp"
#include "report/document/plausible.hpp"
#include "report/document/scan.hpp"
#include "report/document/upgrade.hpp"

namespace netbench::report {

namespace {

using nlohmann::json;

constexpr std::size_t kChunkBytes = 1 << 16;
/// Files up to this are parsed from memory, which is faster.
constexpr std::uintmax_t kHeldBytes = std::uintmax_t{64} << 20;

tl::unexpected<Error> unreadable(const std::string& name, const std::string& why) {
  return fail("document-unreadable", fmt::format("reading {}: {}", name, why));
}

tl::unexpected<Error> too_large(const std::string& name, const ReadLimits& limits) {
  return fail("document-too-large",
              fmt::format("{}: larger than {}", name,
                          format_bytes(static_cast<std::int64_t>(limits.max_bytes))));
}

/// Everything from a pipe or terminal, up to the limit.
Result<std::string> slurp(std::istream& stream, const std::string& name, const ReadLimits& limits) {
  std::string text;
  std::string chunk(kChunkBytes, '\0');
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())),
         stream.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limits.max_bytes) {
      return too_large(name, limits);
    }
  }
  return text;
}

/// Upgrades and decodes a tree of that version.
Result<Document> document_of(json tree, const SchemaVersion& version, const std::string& name,
                             const ReadLimits& limits) {
  if (tree.is_discarded()) {
    return unreadable(name, "the file changed while it was read");
  }
  if (Status upgraded = upgrade_document(tree, version.major); !upgraded) {
    return tl::unexpected<Error>(with_context(upgraded.error(), name));
  }
  Result<Document> document = decode_document(tree, limits.by_hand);
  if (document && limits.by_hand) {
    if (Status plausible = check_plausible(*document); !plausible) {
      document = tl::unexpected<Error>(plausible.error());
    }
  }
  return document.map_error([&](const Error& error) { return with_context(error, name); });
}

/// A file that is too large to hold as text: read twice.
Result<Document> read_stream(std::istream& stream, const std::string& name,
                             const ReadLimits& limits) {
  const Result<SchemaVersion> version = scan_document(stream, name, limits);
  if (!version) {
    return tl::unexpected<Error>(version.error());
  }
  stream.clear();
  stream.seekg(0);
  return document_of(json::parse(stream, nullptr, false), *version, name, limits);
}

Result<Document> read_text(std::istream& stream, const std::string& name,
                           const ReadLimits& limits) {
  return slurp(stream, name, limits).and_then([&](const std::string& text) {
    return parse_document(text, name, limits);
  });
}

template <class T>
void append_lines(std::string& text, const std::vector<T>& values) {
  text += '[';
  std::string_view separator = "\n";
  for (const T& value : values) {
    text += separator;
    text += to_json_text(encode(value));
    separator = ",\n";
  }
  text += ']';
}

}  // namespace

Result<Document> read_document(const std::string& path, const ReadLimits& limits) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "standard input" : path;
  std::error_code failure;
  if (!is_stdin && std::filesystem::is_regular_file(path, failure)) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      return unreadable(name, std::strerror(errno));
    }
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (size > limits.max_bytes) {
      return too_large(name, limits);
    }
    return size > kHeldBytes ? read_stream(file, name, limits) : read_text(file, name, limits);
  }
  std::ifstream pipe;
  if (!is_stdin) {
    if (std::filesystem::is_directory(path, failure)) {
      return unreadable(name, "it is a directory");
    }
    pipe.open(path, std::ios::binary);
    if (!pipe) {
      return unreadable(name, std::strerror(errno));
    }
  }
  return read_text(is_stdin ? std::cin : pipe, name, limits);
}

Result<Document> parse_document(const std::string& text, const std::string& name,
                                const ReadLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return too_large(name, limits);
  }
  const Result<SchemaVersion> version = scan_document(std::string_view(text), name, limits);
  if (!version) {
    return tl::unexpected<Error>(version.error());
  }
  return document_of(json::parse(text.begin(), text.end(), nullptr, false), *version, name, limits);
}

std::string document_text(const Document& document) {
  Document head;
  head.status = document.status;
  head.error = document.error;
  head.run = document.run;
  head.config = document.config;
  head.hosts = document.hosts;
  std::string text = "{";
  std::string_view separator;
  const nlohmann::ordered_json object = encode(head);
  for (const auto& [key, value] : object.items()) {
    text += fmt::format("{}\"{}\":", separator, key);
    separator = ",\n";
    if (key == "measurements") {
      append_lines(text, document.measurements);
    } else if (key == "interventions") {
      append_lines(text, document.interventions);
    } else if (key == "findings") {
      append_lines(text, document.findings);
    } else {
      text += to_json_text(value);
    }
  }
  return text + "}\n";
}

}  // namespace netbench::report
