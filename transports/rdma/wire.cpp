#include "transports/rdma/wire.hpp"

#include <algorithm>

namespace netbench::rdma {

void Writer::text(std::string_view value) {
  constexpr std::size_t kLongest = 255;
  const std::string_view kept = value.substr(0, kLongest);
  u8(static_cast<std::uint8_t>(kept.size()));
  bytes_.insert(bytes_.end(), kept.begin(), kept.end());
}

void Writer::number(std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

std::uint64_t Reader::number(std::size_t size) {
  std::array<std::uint8_t, 8> bytes{};
  raw(std::span(bytes).first(size));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{bytes[i]} << (8 * i);
  }
  return value;
}

void Reader::raw(std::span<std::uint8_t> target) {
  if (!ok_ || target.size() > rest_.size()) {
    ok_ = false;
    std::ranges::fill(target, std::uint8_t{0});
    return;
  }
  std::ranges::copy(rest_.first(target.size()), target.begin());
  rest_ = rest_.subspan(target.size());
}

std::string Reader::text() {
  const std::size_t length = u8();
  if (!ok_ || length > rest_.size()) {
    ok_ = false;
    return {};
  }
  std::string value(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(length));
  rest_ = rest_.subspan(length);
  return value;
}

std::size_t Reader::count(std::size_t limit, std::size_t entry_bytes) {
  const std::size_t value = u32();
  if (value > limit || value * entry_bytes > rest_.size()) {
    ok_ = false;
    return 0;
  }
  return ok_ ? value : 0;
}

}  // namespace netbench::rdma
