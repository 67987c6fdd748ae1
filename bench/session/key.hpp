#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"

namespace netbench::session {

/// The pre-shared key of an agent and its clients: 32 random bytes, wiped on destruction.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<std::uint8_t, kBytes>;

  explicit Key(const Bytes& bytes) : bytes_(bytes) {}
  Key(const Key&) = default;
  Key& operator=(const Key&) = default;
  ~Key();

  /// A fresh key from the system's random generator. Errors: `no-randomness`.
  [[nodiscard]] static Result<Key> generate();
  /// Reads base64 or base64url (RFC 4648), with or without padding, white space around it ignored.
  /// Errors: `key-malformed`; the message never repeats the text.
  [[nodiscard]] static Result<Key> parse(std::string_view text);

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  /// Base64 with padding: 44 characters.
  [[nodiscard]] std::string to_base64() const;
  /// The name by which both ends know the key: "nb1:" and the first 16 hexadecimal digits of its
  /// SHA-256. Not secret.
  [[nodiscard]] std::string identity() const;

  friend bool operator==(const Key& a, const Key& b);

 private:
  Bytes bytes_;
};

/// Where a key may come from, in order; the first that is present wins. Empty = absent.
struct KeySources {
  std::string key_file{};      // --key-file
  std::string environment{};   // the value of $NETBENCH_KEY
  std::string default_file{};  // ~/.config/netbench/key

  [[nodiscard]] static KeySources of_process(std::string key_file);
};

struct LoadedKey {
  Key key;
  std::string source;  // "--key-file /path", "$NETBENCH_KEY", "/home/u/.config/netbench/key"
};

/// ~/.config/netbench/key of this user; empty where there is no home.
[[nodiscard]] std::string default_key_file();

/// Errors: `key-missing` (names the three sources), `key-file-open` (others may read the file),
/// `key-file-unreadable`, `key-malformed`.
[[nodiscard]] Result<LoadedKey> load_key(const KeySources& sources);

/// Creates `path` with mode 0600, and missing directories above it with mode 0700. Errors:
/// `key-file-exists` (never overwritten), `key-file-unwritable`.
[[nodiscard]] Status write_key_file(const std::string& path, const Key& key);

/// Asks for a key on a terminal, without echo. Both descriptors must be terminals (else
/// `key-missing`). Errors: also `key-malformed`, `cancelled` (Ctrl-C, Ctrl-D).
[[nodiscard]] Result<Key> ask_key(int input_fd = 0, int output_fd = 2);

}  // namespace netbench::session
