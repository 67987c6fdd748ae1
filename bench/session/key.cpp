#include "bench/session/key.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <optional>

namespace netbench::session {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kDigits = (Key::kBytes * 8 + 5) / 6;  // 43, of which the last holds 4 bits
constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<std::uint32_t> digit_value(char c) {
  const char standard = c == '-' ? '+' : c == '_' ? '/' : c;
  const auto at = kAlphabet.find(standard);
  return at == std::string_view::npos ? std::nullopt
                                      : std::optional(static_cast<std::uint32_t>(at));
}

std::optional<Key::Bytes> decode(std::string_view digits) {
  Key::Bytes bytes{};
  std::size_t count = 0;
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const char c : digits) {
    const auto value = digit_value(c);
    if (!value) {
      return std::nullopt;
    }
    bits = bits << 6U | *value;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.at(count++) = static_cast<std::uint8_t>(bits >> bit_count);
      bits &= (1U << bit_count) - 1;
    }
  }
  return bits == 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

Key::~Key() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<Key> Key::generate() {
  Bytes bytes{};
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return fail("no-randomness", "the system gave no random bytes for a key");
  }
  return Key(bytes);
}

Result<Key> Key::parse(std::string_view text) {
  std::string_view digits = trimmed(text);
  if (digits.size() == kDigits + 1 && digits.back() == '=') {
    digits.remove_suffix(1);
  }
  const auto bytes = digits.size() == kDigits ? decode(digits) : std::nullopt;
  if (!bytes) {
    return fail("key-malformed",
                fmt::format("a key is {} bytes in base64 (44 characters); what was given has {} "
                            "characters and is none",
                            kBytes, trimmed(text).size()),
                "copy the whole line that `netbench keygen` or the agent printed");
  }
  return Key(*bytes);
}

std::string Key::to_base64() const {
  std::string text;
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const std::uint8_t byte : bytes_) {
    bits = bits << 8U | byte;
    for (bit_count += 8; bit_count >= 6;) {
      bit_count -= 6;
      text.push_back(kAlphabet[bits >> bit_count & 63U]);
    }
    bits &= (1U << bit_count) - 1;
  }
  text.push_back(kAlphabet[bits << (6 - bit_count)]);
  return text + "=";
}

std::string Key::identity() const {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(bytes_.data(), bytes_.size(), digest.data());
  std::string text = "nb1:";
  for (std::size_t i = 0; i < 8; ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned>(digest.at(i)));
  }
  return text;
}

bool operator==(const Key& a, const Key& b) {
  return CRYPTO_memcmp(a.bytes_.data(), b.bytes_.data(), Key::kBytes) == 0;
}

}  // namespace netbench::session
