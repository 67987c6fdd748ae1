#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Bytes of an address blob: little-endian numbers, texts with their length. A reader never passes
/// the end and never throws: after the first failure it yields zeros, and ok() is false.
namespace netbench::rdma {

class Writer {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(value); }
  void u16(std::uint16_t value) { number(value, 2); }
  void u32(std::uint32_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void text(std::string_view value);  // at most 255 bytes, cut there
  void raw(std::span<const std::uint8_t> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, int size);
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  [[nodiscard]] std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  [[nodiscard]] std::uint64_t u64() { return number(8); }
  [[nodiscard]] std::string text();
  void raw(std::span<std::uint8_t> target);
  /// A count of entries that each take at least `entry_bytes`: fails where that many cannot follow,
  /// so that a hostile count allocates nothing.
  [[nodiscard]] std::size_t count(std::size_t limit, std::size_t entry_bytes);
  void fail() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }
  /// ok(), and nothing is left.
  [[nodiscard]] bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t number(std::size_t size);
  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

}  // namespace netbench::rdma
