#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "bench/facts/interface_state.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr std::string_view kFirstLine = "netbench-knob 1";
constexpr std::string_view kLastLine = "end";

std::string to_hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const auto byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

std::vector<std::uint8_t> from_hex(std::string_view text) {
  constexpr int kHexadecimal = 16;
  std::vector<std::uint8_t> bytes;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    std::uint8_t byte = 0;
    std::from_chars(text.data() + at, text.data() + at + 2, byte, kHexadecimal);
    bytes.push_back(byte);
  }
  return bytes;
}

void take_stacked(std::string_view value, InterfaceState& state) {
  const auto words = split_words(value);
  if (words.size() == 3) {
    state.stacked.push_back({std::string(words[0]),
                             static_cast<int>(to_integer(words[1]).value_or(0)),
                             to_integer(words[2]).value_or(0)});
  }
}

void take_line(std::string_view key, std::string_view value, InterfaceState& state) {
  const auto number = to_integer(value).value_or(0);
  if (key == "boot_id") {
    state.boot_id = value;
  } else if (key == "network_namespace") {
    state.network_namespace = static_cast<std::uint64_t>(number);
  } else if (key == "interface") {
    state.interface = value;
  } else if (key == "index") {
    state.index = static_cast<int>(number);
  } else if (key == "hardware_address") {
    state.hardware_address = value;
  } else if (key == "mtu_bytes") {
    state.mtu_bytes = number;
  } else if (key == "ipv6_mtu_bytes") {
    state.ipv6_mtu_bytes = number;
  } else if (key == "stacked") {
    take_stacked(value, state);
  } else if (key == "address") {
    state.addresses.push_back(from_hex(value));
  } else if (key == "route") {
    state.routes.push_back(from_hex(value));
  }
}

}  // namespace

std::string encode(const InterfaceState& state) {
  std::string text = fmt::format(
      "{}\nboot_id {}\nnetwork_namespace {}\ninterface {}\nindex {}\nhardware_address {}\n"
      "mtu_bytes {}\n",
      kFirstLine, state.boot_id, state.network_namespace, state.interface, state.index,
      state.hardware_address, state.mtu_bytes);
  if (state.ipv6_mtu_bytes) {
    text += fmt::format("ipv6_mtu_bytes {}\n", *state.ipv6_mtu_bytes);
  }
  for (const auto& device : state.stacked) {
    text += fmt::format("stacked {} {} {}\n", device.name, device.index, device.mtu_bytes);
  }
  for (const auto& address : state.addresses) {
    text += fmt::format("address {}\n", to_hex(address));
  }
  for (const auto& route : state.routes) {
    text += fmt::format("route {}\n", to_hex(route));
  }
  return text + std::string(kLastLine) + "\n";
}

Result<InterfaceState> decode(const std::string& text) {
  const auto lines = split_lines(text);
  if (lines.size() < 2 || lines.front() != kFirstLine || lines.back() != kLastLine) {
    return fail("knob-journal", "the journal is not whole or not of this version");
  }
  InterfaceState state;
  for (const auto line : lines) {
    const auto space = line.find(' ');
    if (space != std::string_view::npos) {
      take_line(line.substr(0, space), line.substr(space + 1), state);
    }
  }
  if (state.interface.empty() || state.index <= 0 || state.mtu_bytes <= 0) {
    return fail("knob-journal", "the journal names no interface or no MTU");
  }
  return state;
}

}  // namespace netbench::facts
