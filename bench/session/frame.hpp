#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/core/result.hpp"

namespace netbench::session {

/// One message of the control channel. `type` is 1 … 64 characters of [a-z0-9_.-]; `body` is JSON
/// text, carried as it is: the channel never parses it.
struct Message {
  std::string type;
  std::string body;
};

/// Largest frame before and after the hello exchange, in bytes behind the length field.
inline constexpr std::size_t kMaxFrameBeforeHello = 64 * 1024;
inline constexpr std::size_t kMaxFrame = 16 * 1024 * 1024;

/// A frame on the wire: 4 bytes big-endian length of what follows, 1 byte length of the type, the
/// type, the body. Errors: `frame-too-large` (over kMaxFrame), `bad-frame` (an illegal type).
[[nodiscard]] Result<std::string> encode_frame(const Message& message);

/// Cuts a byte stream into messages. A hostile length is refused as soon as its four bytes are
/// there, before anything of that size is allocated. Values only; no threads, no IO.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t max_frame = kMaxFrameBeforeHello) : max_frame_(max_frame) {}

  void set_max_frame(std::size_t max_frame) { max_frame_ = max_frame; }
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  /// The next whole message, or nothing yet. Errors: `frame-too-large`, `bad-frame`; the stream is
  /// then useless.
  [[nodiscard]] Result<std::optional<Message>> next();

 private:
  void consume(std::size_t count);

  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t max_frame_;
};

/// `text` with everything that is not printable ASCII as \xNN, cut to `limit` bytes: for showing
/// what a stranger sent on a terminal or in a log.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace netbench::session
