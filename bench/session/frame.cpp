#include "bench/session/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace netbench::session {

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kMaxType = 64;

bool legal_type(std::string_view type) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !type.empty() && type.size() <= kMaxType && std::ranges::all_of(type, legal);
}

std::size_t read_length(std::string_view bytes) {
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, kLengthBytes)) {
    length = length << 8U | static_cast<unsigned char>(byte);
  }
  return length;
}

void append_length(std::string& out, std::size_t length) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    out.push_back(static_cast<char>(length >> shift & 0xFFU));
  }
}

tl::unexpected<Error> bad_frame(const std::string& what) {
  return fail("bad-frame", fmt::format("a frame of the control connection {}", what));
}

tl::unexpected<Error> too_large(std::size_t length, std::size_t limit) {
  return fail("frame-too-large",
              fmt::format("a frame of {} bytes on the control connection is over "
                          "the limit of {} bytes",
                          length, limit));
}

}  // namespace

Result<std::string> encode_frame(const Message& message) {
  if (!legal_type(message.type)) {
    return bad_frame(fmt::format("cannot have the type \"{}\"", printable(message.type, kMaxType)));
  }
  const std::size_t length = 1 + message.type.size() + message.body.size();
  if (length > kMaxFrame) {
    return too_large(length, kMaxFrame);
  }
  std::string frame;
  frame.reserve(kLengthBytes + length);
  append_length(frame, length);
  frame.push_back(static_cast<char>(message.type.size()));
  frame += message.type;
  frame += message.body;
  return frame;
}

Result<std::optional<Message>> FrameDecoder::next() {
  const std::string_view bytes = std::string_view(buffer_).substr(begin_);
  if (bytes.size() < kLengthBytes) {
    return std::nullopt;
  }
  const std::size_t length = read_length(bytes);
  if (length > max_frame_) {
    return too_large(length, max_frame_);
  }
  if (bytes.size() < kLengthBytes + length) {
    return std::nullopt;
  }
  const std::string_view frame = bytes.substr(kLengthBytes, length);
  const std::size_t type_size = frame.empty() ? 0 : static_cast<unsigned char>(frame.front());
  if (frame.size() < 1 + type_size || !legal_type(frame.substr(1, type_size))) {
    return bad_frame("has no legal type");
  }
  Message message{std::string(frame.substr(1, type_size)),
                  std::string(frame.substr(1 + type_size))};
  consume(kLengthBytes + length);
  return message;
}

void FrameDecoder::consume(std::size_t count) {
  begin_ += count;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {  // each byte is moved once at most on average
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      out.push_back(c);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > limit ? out + "..." : out;
}

}  // namespace netbench::session
