#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/facts/path_mtu.hpp"

namespace netbench::facts {

enum class ProbeType : std::uint8_t {
  hello = 1,    // client: are you there? value: number of the try
  hello_ack,    // value: as asked; extra: MTU of the responder's interface, 0 = not known
  probe,        // client: padded to an IP packet of `value` bytes, DF
  probe_ack,    // value: that size
  request,      // client: send me an IP packet of `value` bytes, DF
  data,         // value: its size, padded to it
  request_ack,  // value: the size asked for; extra: MTU that ICMP named so far, 0 = none
};

/// A datagram of path probing: "NBP1", type, 3 zero bytes, token, value, extra; network byte order;
/// then padding.
struct ProbeMessage {
  ProbeType type = ProbeType::hello;
  ProbeToken token{};
  std::uint32_t value = 0;
  std::uint32_t extra = 0;
};

inline constexpr std::size_t kProbeMessageBytes = 32;

/// The message, padded with zeroes to `datagram_bytes` where that is more.
[[nodiscard]] std::vector<std::uint8_t> encode(const ProbeMessage& message,
                                               std::size_t datagram_bytes = kProbeMessageBytes);

/// Nothing if it is no such message.
[[nodiscard]] std::optional<ProbeMessage> decode_probe(std::span<const std::uint8_t> datagram);

/// IP and UDP headers in front of a datagram.
[[nodiscard]] constexpr std::size_t packet_header_bytes(bool ipv6) { return ipv6 ? 48 : 28; }

/// DF on every packet, whatever the kernel believes of the path (IP_PMTUDISC_PROBE; IPv6 alike),
/// ICMP errors into the error queue, and a receive buffer for a volley. Errors: `probe-socket`.
[[nodiscard]] Status prepare_probe_socket(int socket);

/// What ICMP said of a packet of this socket, and where that packet went.
struct IcmpReport {
  sockaddr_storage destination{};
  std::uint32_t mtu_bytes = 0;  // 0: something else than "too big"
  bool port_unreachable = false;
};

/// Takes one entry from the error queue; nothing when the queue is empty.
[[nodiscard]] std::optional<IcmpReport> take_icmp_report(int socket);

}  // namespace netbench::facts
