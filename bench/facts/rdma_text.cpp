#include "bench/facts/rdma_text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

/// The line of a /proc file that begins so, without its beginning.
std::optional<std::string_view> line_after(std::string_view text, std::string_view start) {
  for (const auto line : split_lines(text)) {
    if (line.starts_with(start)) {
      return trimmed(line.substr(start.size()));
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<RdmaRate> parse_rdma_rate(std::string_view text) {
  text = trimmed(text);
  double giga = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), giga);
  const auto rest = trimmed(text.substr(static_cast<std::size_t>(stop - text.data())));
  if (error != std::errc{} || giga <= 0 || !rest.starts_with("Gb/sec")) {
    return std::nullopt;
  }
  const auto open = rest.find('(');
  const auto close = rest.find(')');
  const bool has_lanes = open != std::string_view::npos && close != std::string_view::npos;
  return RdmaRate{giga * 1e9,
                  has_lanes ? std::string(rest.substr(open + 1, close - open - 1)) : ""};
}

std::string parse_rdma_state(std::string_view text) {
  const auto colon = text.find(':');
  return std::string(trimmed(colon == std::string_view::npos ? text : text.substr(colon + 1)));
}

std::optional<std::int64_t> parse_rdma_number(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("0x")) {
    return to_integer(text);
  }
  const auto number = parse_hexadecimal(text.substr(2));
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::optional<std::string> parse_gid(std::string_view text) {
  in6_addr address{};
  const std::string gid(trimmed(text));
  if (::inet_pton(AF_INET6, gid.c_str(), &address) != 1 ||
      std::ranges::all_of(address.s6_addr, [](auto byte) { return byte == 0; })) {
    return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> shown{};
  return ::inet_ntop(AF_INET6, &address, shown.data(), shown.size()) == nullptr
             ? std::nullopt
             : std::optional(std::string(shown.data()));
}

std::string guid_of_address(std::string_view address) {
  constexpr std::size_t kLength = 17;
  constexpr unsigned kUniversal = 2;
  address = trimmed(address);
  std::array<unsigned, 6> bytes{};
  for (std::size_t i = 0; i < bytes.size() && address.size() == kLength; ++i) {
    const auto byte = parse_hexadecimal(address.substr(3 * i, 2));
    if (!byte || (i > 0 && address[3 * i - 1] != ':')) {
      return {};
    }
    bytes.at(i) = static_cast<unsigned>(*byte);
  }
  return address.size() != kLength
             ? std::string{}
             : fmt::format("{:02x}{:02x}:{:02x}ff:fe{:02x}:{:02x}{:02x}", bytes[0] ^ kUniversal,
                           bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]);
}

std::optional<std::int64_t> parse_locked_memory(std::string_view limits) {
  const auto line = line_after(limits, "Max locked memory");
  const auto words = line ? split_words(*line) : std::vector<std::string_view>{};
  if (words.empty()) {
    return std::nullopt;
  }
  return words.front() == "unlimited" ? std::numeric_limits<std::int64_t>::max()
                                      : to_integer(words.front());
}

std::optional<bool> parse_capability(std::string_view status, unsigned capability) {
  const auto line = line_after(status, "CapEff:");
  const auto mask = line ? parse_hexadecimal(*line) : std::nullopt;
  return mask ? std::optional(((*mask >> capability) & 1U) != 0) : std::nullopt;
}

std::optional<std::int64_t> parse_traffic_class(std::string_view text) {
  const auto equals = text.find('=');
  return equals == std::string_view::npos ? std::nullopt
                                          : to_integer(trimmed(text.substr(equals + 1)));
}

}  // namespace netbench::facts
