#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace netbench::facts {

/// What a switch says of itself and of the port at which a cable ends.
struct LldpNeighbour {
  std::string system;            // system name, else chassis id
  std::string port;              // port id as its subtype says: interface name, MAC …
  std::string port_description;  // "" if none
  std::string chassis;
  std::optional<int> max_frame_bytes;  // IEEE 802.3 maximum frame size TLV
};

/// A frame from its Ethernet header on (IEEE 802.1AB-2016, clauses 8.4-8.6); VLAN tags are skipped.
/// Nothing where it is no LLDP frame or lacks chassis or port. Any bytes may come: unprintable
/// characters are replaced, texts are cut at 255 characters. Pure.
[[nodiscard]] std::optional<LldpNeighbour> parse_lldp(std::span<const std::uint8_t> frame);

/// The frames in a file of systemd-networkd (/run/systemd/netif/lldp/<ifindex>): each behind its
/// length as 64 bits, little-endian (systemd's networkd-lldp-rx.c). Pure.
[[nodiscard]] std::vector<std::span<const std::uint8_t>> split_lldp_file(
    std::span<const std::uint8_t> file);

}  // namespace netbench::facts
