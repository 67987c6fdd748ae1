#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/session/body_reader.hpp"

namespace netbench::session {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

std::string to_hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kHexDigits[byte >> 4U]);
    text.push_back(kHexDigits[byte & 15U]);
  }
  return text;
}

tl::unexpected<Error> misunderstood(std::string_view type, std::string_view why) {
  return fail("protocol", fmt::format("the peer's \"{}\" message is not understood: {}", type, why),
              "Use the same version of netbench on both hosts.");
}

const Json* BodyReader::find(const char* key) const {
  const auto found = body_.find(key);
  return found == body_.end() ? nullptr : &*found;
}

const Json* BodyReader::member(const char* key, bool (*fits)(const Json&), std::string_view what) {
  const Json* found = find(key);
  if (found == nullptr || !fits(*found)) {
    note(fmt::format("\"{}\" is not {}", key, what));
    return nullptr;
  }
  return found;
}

void BodyReader::note(std::string why) {
  if (failure_.empty()) {
    failure_ = std::move(why);
  }
}

std::int64_t BodyReader::integer(const char* key) {
  const auto fits = [](const Json& json) { return json.is_number_integer(); };
  const Json* value = member(key, fits, "a whole number");
  return value != nullptr ? value->get<std::int64_t>() : 0;
}

std::uint64_t BodyReader::unsigned_integer(const char* key) {
  const auto fits = [](const Json& json) { return json.is_number_unsigned(); };
  const Json* value = member(key, fits, "a whole number from 0");
  return value != nullptr ? value->get<std::uint64_t>() : 0;
}

double BodyReader::number(const char* key) {
  const auto fits = [](const Json& json) { return json.is_number(); };
  const Json* value = member(key, fits, "a number");
  return value != nullptr ? value->get<double>() : 0;
}

bool BodyReader::boolean(const char* key) {
  const auto fits = [](const Json& json) { return json.is_boolean(); };
  const Json* value = member(key, fits, "true or false");
  return value != nullptr && value->get<bool>();
}

std::string BodyReader::text(const char* key) {
  const auto fits = [](const Json& json) { return json.is_string(); };
  const Json* value = member(key, fits, "a text");
  return value != nullptr ? value->get<std::string>() : std::string();
}

std::vector<std::string> BodyReader::texts(const char* key) {
  const auto fits = [](const Json& json) { return json.is_array(); };
  std::vector<std::string> values;
  const Json* list = member(key, fits, "a list");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& value = (*list)[i];
    if (!value.is_string()) {
      note(fmt::format("\"{}\" holds something else than texts", key));
      return {};
    }
    values.push_back(value.get<std::string>());
  }
  return values;
}

std::vector<std::uint8_t> BodyReader::hex(const char* key) { return from_hex(key, text(key)); }

std::vector<std::uint8_t> BodyReader::from_hex(const char* key, std::string_view digits) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const auto high = kHexDigits.find(digits[i]);
    const auto low = kHexDigits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) {
      note(fmt::format("\"{}\" is not hexadecimal", key));
      return {};
    }
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

}  // namespace netbench::session
