#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "transports/abi/nb_transport.h"

/// What goes over the wire. A stream's datagram begins with a header of 16 bytes, in network byte
/// order: kind (8 bits), sequence (56 bits), send time (64 bits, sender's CLOCK_MONOTONIC in ns).
namespace netbench::udp {

inline constexpr std::int64_t kHeaderBytes = 16;
/// 65535 less the headers of IPv4 and UDP (RFC 791, RFC 768).
inline constexpr std::int64_t kMaxDatagramBytes = 65507;

enum class Kind : std::uint8_t {
  data = 'D',
  end = 'E',           // sequence: how many data datagrams were sent
  end_received = 'F',  // answers `end`
  greeting = 'N',      // a Greeting, not a Header
};

struct Header {
  Kind kind = Kind::data;
  std::uint64_t sequence = 0;  // 56 bits
  std::int64_t sent_ns = 0;
};

namespace detail {

inline void put(std::byte* to, std::uint64_t value) noexcept {
  const std::uint64_t wire = __builtin_bswap64(value);
  std::memcpy(to, &wire, sizeof wire);
}
[[nodiscard]] inline std::uint64_t get(const std::byte* from) noexcept {
  std::uint64_t wire = 0;
  std::memcpy(&wire, from, sizeof wire);
  return __builtin_bswap64(wire);
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "x86-64 and arm64 are little-endian");

inline constexpr unsigned kKindShift = 56;
inline constexpr std::uint64_t kSequenceMask = (std::uint64_t{1} << kKindShift) - 1;

}  // namespace detail

/// `to` has at least kHeaderBytes.
inline void write_header(std::byte* to, const Header& header) noexcept {
  detail::put(to, static_cast<std::uint64_t>(header.kind) << detail::kKindShift |
                      (header.sequence & detail::kSequenceMask));
  detail::put(to + 8, static_cast<std::uint64_t>(header.sent_ns));
}

/// Nothing where the datagram is too short to have a header.
[[nodiscard]] inline std::optional<Header> read_header(std::span<const std::byte> from) noexcept {
  if (from.size() < static_cast<std::size_t>(kHeaderBytes)) {
    return std::nullopt;
  }
  const std::uint64_t first = detail::get(from.data());
  return Header{static_cast<Kind>(first >> detail::kKindShift), first & detail::kSequenceMask,
                static_cast<std::int64_t>(detail::get(from.data() + 8))};
}

using Token = std::array<std::uint8_t, NB_TOKEN_BYTES>;

inline constexpr std::size_t kMagicBytes = 4;
inline constexpr const char* kHelloMagic = NB_DATAGRAM_MAGIC;  // initiator to the agent's port
inline constexpr const char* kAnswerMagic = "NBV1";  // responder's socket to the initiator

/// The first datagram of a socket, and its answer.
using Greeting = std::array<std::byte, kMagicBytes + NB_TOKEN_BYTES>;

[[nodiscard]] inline Greeting make_greeting(const char* magic, const Token& token) noexcept {
  Greeting greeting{};
  std::memcpy(greeting.data(), magic, kMagicBytes);
  std::memcpy(greeting.data() + kMagicBytes, token.data(), token.size());
  return greeting;
}

[[nodiscard]] inline bool is_greeting(std::span<const std::byte> datagram, const char* magic,
                                      const Token& token) noexcept {
  const Greeting expected = make_greeting(magic, token);
  return datagram.size() == expected.size() &&
         std::memcmp(datagram.data(), expected.data(), expected.size()) == 0;
}

}  // namespace netbench::udp
