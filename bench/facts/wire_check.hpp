#pragma once

#include <optional>
#include <string>

#include "bench/facts/counters.hpp"

namespace netbench::facts {

enum class WireProtocol { tcp, udp };

/// What one packet carries besides payload, as an interface's rx_bytes counts it.
struct PacketHeaders {
  int link_bytes = 14;  // Ethernet without FCS; 0 on lo and tun, which count IP packets
  bool ipv6 = false;    // IPv6 40 bytes (RFC 8200), IPv4 20 (RFC 791)
  WireProtocol protocol = WireProtocol::tcp;  // TCP 20 (RFC 9293), UDP 8 (RFC 768)
  bool timestamps = true;                     // TCP only: 12 with padding (RFC 7323)
};

[[nodiscard]] int header_bytes(const PacketHeaders& headers);

/// Bytes of link header that the interface counts in rx_bytes: 0 for lo, tun and IP tunnels.
[[nodiscard]] int counted_link_header_bytes(const std::string& interface_kind, bool loopback);

struct WireInput {
  double payload_bytes = 0;        // received by this end's application in the window
  double other_payload_bytes = 0;  // received by the other end, where both share the device (lo)
  double rx_bytes = 0;             // if.<dev>.rx_bytes over the same window
  double rx_packets = 0;           // if.<dev>.rx_packets (with GRO in the device: super-packets)
  int header_bytes = 66;           // a packet
  double repeated_bytes = 0;       // sent again by the sender: between none and all of it came
};

struct WireCheck {
  double wire_payload_bytes = 0;  // rx_bytes − header_bytes × rx_packets
  double disagreement = 0;        // distance from payload … payload + repeated, over payload
  double foreign_share = 0;  // of the interface's received bytes: not this payload, not headers
};

/// Payload against the interface's own counters; nothing where no payload was received or the
/// interface counted no packets. Other traffic raises the wire's side. Pure.
[[nodiscard]] std::optional<WireCheck> check_wire(const WireInput& input);

/// Fills rx_bytes and rx_packets from a delta; nothing where the interface has no counters.
[[nodiscard]] std::optional<WireInput> wire_input(const Counters& counters,
                                                  const std::string& interface,
                                                  const PacketHeaders& headers);

}  // namespace netbench::facts
