#include "bench/facts/lldp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/facts/addresses.hpp"

namespace netbench::facts {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint16_t kEtherType = 0x88CC;
constexpr std::size_t kEthernetAddresses = 12;

enum Tlv : unsigned {
  kEnd = 0,
  kChassis = 1,
  kPort = 2,
  kPortDescription = 4,
  kSystemName = 5,
  kOrganisation = 127,
};

std::uint16_t word(Bytes bytes, std::size_t at) {
  return at + 1 < bytes.size() ? static_cast<std::uint16_t>((bytes[at] << 8) | bytes[at + 1])
                               : std::uint16_t{0};
}

// Text for a terminal: of a stranger's frame no control characters get through.
std::string printable(Bytes bytes) {
  std::string text;
  for (const auto byte : bytes) {
    text += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '?';
  }
  return text;
}

// Chassis ids (clause 8.5.2.2) and port ids (8.5.3.2) number the same forms differently.
struct IdForms {
  std::uint8_t mac;
  std::uint8_t network_address;
};
constexpr IdForms kChassisForms{4, 5};
constexpr IdForms kPortForms{3, 4};

std::string id_text(Bytes value, const IdForms& forms) {
  if (value.size() < 2) {
    return {};
  }
  const Bytes id = value.subspan(1);
  if (value[0] == forms.mac) {
    return hardware_text(id);
  }
  if (value[0] == forms.network_address) {
    const std::string address = ip_text(id.subspan(1));  // behind the address family number
    return address.empty() ? printable(id) : address;
  }
  return printable(id);
}

// Maximum frame size of IEEE 802.3 (OUI 00-12-0F, subtype 4).
std::optional<int> max_frame(Bytes value) {
  const bool matches = value.size() >= 6 && value[0] == 0x00 && value[1] == 0x12 &&
                       value[2] == 0x0F && value[3] == 4;
  return matches ? std::optional<int>(word(value, 4)) : std::nullopt;
}

void take_tlv(unsigned type, Bytes value, LldpNeighbour& neighbour) {
  switch (type) {
    case kChassis:
      neighbour.chassis = id_text(value, kChassisForms);
      break;
    case kPort:
      neighbour.port = id_text(value, kPortForms);
      break;
    case kPortDescription:
      neighbour.port_description = printable(value.first(std::min<std::size_t>(value.size(), 255)));
      break;
    case kSystemName:
      neighbour.system = printable(value.first(std::min<std::size_t>(value.size(), 255)));
      break;
    case kOrganisation:
      if (const auto frame_bytes = max_frame(value); frame_bytes) {
        neighbour.max_frame_bytes = frame_bytes;
      }
      break;
    default:
      break;
  }
}

// The LLDPDU behind the Ethernet header and any VLAN tags, empty where it is something else.
Bytes payload_of(Bytes frame) {
  std::size_t at = kEthernetAddresses;
  while (word(frame, at) == 0x8100 || word(frame, at) == 0x88A8) {
    at += 4;
  }
  return word(frame, at) == kEtherType && frame.size() > at + 2 ? frame.subspan(at + 2) : Bytes{};
}

}  // namespace

std::optional<LldpNeighbour> parse_lldp(std::span<const std::uint8_t> frame) {
  LldpNeighbour neighbour;
  Bytes rest = payload_of(frame);
  while (rest.size() >= 2) {
    const unsigned type = rest[0] >> 1U;  // 7 bits of type, 9 bits of length
    const std::size_t length = word(rest, 0) & 0x1FFU;
    if (type == kEnd || length > rest.size() - 2) {
      break;
    }
    take_tlv(type, rest.subspan(2, length), neighbour);
    rest = rest.subspan(2 + length);
  }
  if (neighbour.chassis.empty() || neighbour.port.empty()) {
    return std::nullopt;
  }
  if (neighbour.system.empty()) {
    neighbour.system = neighbour.chassis;
  }
  return neighbour;
}

std::vector<std::span<const std::uint8_t>> split_lldp_file(std::span<const std::uint8_t> file) {
  constexpr std::size_t kLengthBytes = 8;
  std::vector<Bytes> frames;
  while (file.size() >= kLengthBytes) {
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i > 0; --i) {
      length = (length << 8U) | file[i - 1];
    }
    file = file.subspan(kLengthBytes);
    if (length > file.size()) {
      break;
    }
    frames.push_back(file.first(static_cast<std::size_t>(length)));
    file = file.subspan(static_cast<std::size_t>(length));
  }
  return frames;
}

}  // namespace netbench::facts
