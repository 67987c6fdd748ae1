#include "bench/facts/pci_config.hpp"

#include <array>
#include <string_view>

namespace netbench::facts {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kCapabilityPointer = 0x34;
constexpr std::size_t kHeaderBytes = 0x40;
constexpr std::size_t kExtendedStart = 0x100;
constexpr std::uint8_t kPciExpress = 0x10;
constexpr std::uint16_t kErrorReporting = 0x0001;
constexpr std::uint16_t kAccessControl = 0x000D;
constexpr int kMostCapabilities = 64;  // a loop in hostile bytes ends

std::uint16_t word(Bytes bytes, std::size_t at) {
  return at + 1 < bytes.size() ? static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8))
                               : std::uint16_t{0};
}

std::uint32_t double_word(Bytes bytes, std::size_t at) {
  return word(bytes, at) | (static_cast<std::uint32_t>(word(bytes, at + 2)) << 16U);
}

// Offset of a capability of the first 256 bytes, 0 if there is none.
std::size_t find_capability(Bytes config, std::uint8_t id) {
  std::size_t at = config.size() > kCapabilityPointer ? config[kCapabilityPointer] & 0xFCU : 0;
  for (int i = 0; i < kMostCapabilities && at >= kHeaderBytes && at + 1 < config.size(); ++i) {
    if (config[at] == id) {
      return at;
    }
    at = config[at + 1] & 0xFCU;
  }
  return 0;
}

std::size_t find_extended(Bytes config, std::uint16_t id) {
  std::size_t at = kExtendedStart;
  for (int i = 0; i < kMostCapabilities && at >= kExtendedStart && at + 4 <= config.size(); ++i) {
    const std::uint32_t header = double_word(config, at);
    if (header != 0 && (header & 0xFFFFU) == id) {
      return at;
    }
    at = (header >> 20U) & 0xFFCU;
  }
  return 0;
}

std::string_view port_kind(unsigned type) {
  switch (type) {
    case 0:
      return "endpoint";
    case 4:
      return "root port";
    case 5:
      return "upstream port";
    case 6:
      return "downstream port";
    default:
      return "other";
  }
}

// 3-bit codes: 0 is 128 bytes, each step doubles.
int bytes_of_code(unsigned code) { return 128 << (code & 7U); }

}  // namespace

std::optional<PciConfig> parse_pci_config(std::span<const std::uint8_t> config) {
  constexpr std::array<std::string_view, 4> kAspm{"off", "L0s", "L1", "L0s+L1"};
  const std::size_t express = find_capability(config, kPciExpress);
  constexpr std::size_t kUpToLinkStatus = 0x14;
  if (express == 0 || express + kUpToLinkStatus > config.size()) {
    return std::nullopt;
  }
  const unsigned control = word(config, express + 8);
  PciConfig parsed;
  parsed.port_kind = port_kind((word(config, express + 2) >> 4U) & 0xFU);
  parsed.max_payload_supported_bytes = bytes_of_code(config[express + 4]);
  parsed.max_payload_bytes = bytes_of_code(control >> 5U);
  parsed.max_read_request_bytes = bytes_of_code(control >> 12U);
  parsed.relaxed_ordering = (control & 0x10U) != 0;
  parsed.aspm = kAspm.at(word(config, express + 0x10) & 3U);
  parsed.has_error_reporting = find_extended(config, kErrorReporting) != 0;
  if (const std::size_t acs = find_extended(config, kAccessControl); acs != 0) {
    constexpr unsigned kRedirects = 0xC;  // P2P request redirect, P2P completion redirect
    parsed.acs_redirects = (word(config, acs + 6) & kRedirects) != 0;
  }
  return parsed;
}

}  // namespace netbench::facts
