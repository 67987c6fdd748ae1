#include "report/document/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <vector>

#include "bench/model/codec.hpp"

namespace netbench::report {

namespace {

using nlohmann::json;

constexpr std::size_t kShownKeys = 6;
constexpr std::size_t kShownBytes = 200;
/// Of a document of 32 Mi values hardly a thousand; bounds the memory that a hostile one takes.
constexpr std::uint64_t kHeldKeys = std::uint64_t{1} << 20;

/// Listens to the parser (nlohmann's SAX interface: false stops it) and notes what identifies a
/// document.
class Scanner final : public nlohmann::json_sax<json> {
 public:
  explicit Scanner(const ReadLimits& limits) : limits_(limits) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t number) override {
    if (in_schema_ && key_ == "major") {
      major_ = number;
    } else if (in_schema_ && key_ == "minor") {
      minor_ = number;
    }
    return value();
  }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t& text) override {
    if (in_schema_ && key_ == "name") {
      name_ = text;
    }
    return value();
  }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override {
    in_schema_ = depth_ == 1 && key_ == "schema";
    return open(false);
  }
  bool start_array(std::size_t) override { return depth_ > 0 ? open(true) : not_an_object(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    Level& level = levels_[static_cast<std::size_t>(depth_ - 1)];
    if (!level.keys.insert(text).second) {
      note_twice(text);
    } else if (++held_keys_ > kHeldKeys) {
      return refuse_size("keys in objects that are open at once", kHeldKeys);
    }
    level.key = text;
    if (depth_ <= 2) {
      key_ = text;
    }
    if (depth_ == 1 && top_keys_.size() < kShownKeys) {
      top_keys_.push_back(text);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& failure) override {
    error_position_ = position;
    error_text_ = failure.what();
    return false;
  }

  /// What the parser stumbled over, as an error about `name`, whose text ends after `size` bytes.
  [[nodiscard]] Error error(const std::string& name, std::uint64_t size) const;
  [[nodiscard]] Result<SchemaVersion> version(const std::string& name) const;

 private:
  /// An object or a list that is open.
  struct Level {
    bool is_list = false;
    std::uint64_t index = 0;  // of the value that is read, in a list
    std::string key;          // of the value that is read, in an object
    std::unordered_set<std::string> keys;
  };

  void count_value() {
    if (depth_ > 0) {
      ++levels_[static_cast<std::size_t>(depth_ - 1)].index;
    }
  }
  bool value() {
    if (depth_ == 0) {
      return not_an_object();
    }
    count_value();
    return ++values_ <= limits_.max_values || refuse_size("values", limits_.max_values);
  }
  bool open(bool is_list) {
    count_value();
    if (++depth_ > limits_.max_depth) {
      return refuse_size("nested levels", static_cast<std::uint64_t>(limits_.max_depth));
    }
    levels_.resize(std::max(levels_.size(), static_cast<std::size_t>(depth_)));
    Level& level = levels_[static_cast<std::size_t>(depth_ - 1)];
    level.is_list = is_list;
    level.index = 0;
    held_keys_ -= level.keys.size();
    level.keys.clear();
    return true;
  }
  bool close() {
    --depth_;
    in_schema_ = in_schema_ && depth_ > 1;
    return true;
  }
  bool not_an_object() {
    refusal_ = Error{"document-other-schema", "it holds JSON, but no object at the top", "",
                     ExitClass::error};
    return false;
  }
  /// The first one is told, where the text turns out to be a document of ours.
  void note_twice(const std::string& key) {
    if (twice_) {
      return;
    }
    std::string place;
    for (int depth = 0; depth + 1 < depth_; ++depth) {
      const Level& level = levels_[static_cast<std::size_t>(depth)];
      place += level.is_list ? fmt::format("/{}", level.index - 1) : "/" + level.key;
    }
    twice_ = Error{"document-duplicate-key",
                   fmt::format("{}: the key \"{}\" stands there twice",
                               place.empty() ? "at the top" : place.substr(0, kShownBytes),
                               key.substr(0, kShownBytes)),
                   "Two values for one thing: leave the wrong one out.", ExitClass::error};
  }
  bool refuse_size(std::string_view what, std::uint64_t limit) {
    refusal_ = Error{"document-too-large", fmt::format("it has more than {} {}", limit, what), "",
                     ExitClass::error};
    return false;
  }

  const ReadLimits& limits_;
  int depth_ = 0;
  std::vector<Level> levels_;  // as many as were ever open at once
  std::uint64_t held_keys_ = 0;
  std::optional<Error> twice_;
  std::uint64_t values_ = 0;
  std::string key_;
  bool in_schema_ = false;
  std::optional<std::string> name_;
  std::optional<std::uint64_t> major_;
  std::optional<std::uint64_t> minor_;
  std::vector<std::string> top_keys_;
  std::optional<Error> refusal_;
  std::uint64_t error_position_ = 0;
  std::string error_text_;
};

Error Scanner::error(const std::string& name, std::uint64_t size) const {
  if (refusal_) {
    return with_context(*refusal_, name);
  }
  if (size == 0) {
    return {"document-truncated", fmt::format("{}: the file is empty", name), "", ExitClass::error};
  }
  if (error_position_ > size) {
    return {"document-truncated",
            fmt::format("{}: the text ends in the middle, after {} bytes", name, size),
            "Copy the file again. A run that was cut off leaves FILE.partial, which is whole.",
            ExitClass::error};
  }
  const std::size_t prefix_end = error_text_.find("] ");
  std::string detail =
      error_text_.substr(prefix_end == std::string::npos ? 0 : prefix_end + 2, kShownBytes);
  return {"document-not-json", fmt::format("{}: not JSON: {}", name, detail),
          "NaN and Infinity are not JSON; netbench writes null.", ExitClass::error};
}

Result<SchemaVersion> Scanner::version(const std::string& name) const {
  const bool complete = name_ && major_ && (minor_ || limits_.by_hand);
  if (!complete || *name_ != kSchemaName) {
    const std::string found =
        name_ ? fmt::format("its schema is \"{}\"", name_->substr(0, kShownBytes))
              : fmt::format("it names no schema; its keys are {}", fmt::join(top_keys_, ", "));
    return fail("document-other-schema", fmt::format("{}: not a netbench result: {}", name, found),
                "Only documents that netbench wrote, or that name its schema, can be read.");
  }
  if (*major_ > static_cast<std::uint64_t>(kSchemaMajor)) {
    return fail("document-newer",
                fmt::format("{}: written in version {}.{} of {}; this netbench reads up to {}.x",
                            name, *major_, minor_.value_or(0), kSchemaName, kSchemaMajor),
                "Read it with a netbench at least as new as the one that wrote it.");
  }
  if (twice_) {
    return tl::unexpected<Error>(with_context(*twice_, name));
  }
  return SchemaVersion{static_cast<int>(*major_), static_cast<int>(minor_.value_or(0))};
}

std::uint64_t size_of(std::istream& text) {
  text.clear();
  text.seekg(0, std::ios::end);
  return static_cast<std::uint64_t>(text.tellg());
}

}  // namespace

Result<SchemaVersion> scan_document(std::istream& text, const std::string& name,
                                    const ReadLimits& limits) {
  Scanner scanner(limits);
  if (!json::sax_parse(text, &scanner)) {
    return tl::unexpected<Error>(scanner.error(name, size_of(text)));
  }
  return scanner.version(name);
}

Result<SchemaVersion> scan_document(std::string_view text, const std::string& name,
                                    const ReadLimits& limits) {
  Scanner scanner(limits);
  if (!json::sax_parse(text.begin(), text.end(), &scanner)) {
    return tl::unexpected<Error>(scanner.error(name, text.size()));
  }
  return scanner.version(name);
}

}  // namespace netbench::report
