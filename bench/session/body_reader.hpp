#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/core/result.hpp"

namespace netbench::session {

/// Bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(const std::vector<std::uint8_t>& bytes);

/// `protocol`: a message of that type came, and cannot be understood.
[[nodiscard]] tl::unexpected<Error> misunderstood(std::string_view type, std::string_view why);

/// Reads the members of a message's body. The first failure is kept for finish(), which then
/// returns it; members that cannot be read come out empty. `body` must be an object and outlive it.
class BodyReader {
 public:
  BodyReader(std::string_view type, const nlohmann::json& body) : type_(type), body_(body) {}

  [[nodiscard]] std::int64_t integer(const char* key);
  [[nodiscard]] std::uint64_t unsigned_integer(const char* key);
  [[nodiscard]] double number(const char* key);
  [[nodiscard]] bool boolean(const char* key);
  [[nodiscard]] std::string text(const char* key);
  [[nodiscard]] std::vector<std::string> texts(const char* key);
  /// Bytes written by to_hex().
  [[nodiscard]] std::vector<std::uint8_t> hex(const char* key);
  [[nodiscard]] std::vector<std::uint8_t> from_hex(const char* key, std::string_view digits);

  template <class T>
  using Decoder = Result<T> (*)(const nlohmann::json&);

  /// A member with a decoder of its own.
  template <class T>
  [[nodiscard]] T value(const char* key, Decoder<T> decode) {
    const nlohmann::json* found = find(key);
    if (found == nullptr) {
      note(std::string(key) + " is missing");
      return {};
    }
    auto decoded = decode(*found);
    if (!decoded) {
      note(decoded.error().message);
      return {};
    }
    return std::move(*decoded);
  }
  template <class T>
  [[nodiscard]] std::optional<T> optional(const char* key, Decoder<T> decode) {
    return find(key) != nullptr ? std::optional<T>(value(key, decode)) : std::nullopt;
  }

  template <class T>
  [[nodiscard]] Result<T> finish(T value) const {
    if (!failure_.empty()) {
      return misunderstood(type_, failure_);
    }
    return value;
  }
  /// Notes a failure of the caller's own.
  void note(std::string why);

 private:
  [[nodiscard]] const nlohmann::json* find(const char* key) const;
  [[nodiscard]] const nlohmann::json* member(const char* key, bool (*fits)(const nlohmann::json&),
                                             std::string_view what);

  std::string_view type_;
  const nlohmann::json& body_;
  std::string failure_;
};

}  // namespace netbench::session
