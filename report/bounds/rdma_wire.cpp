#include "report/bounds/rdma_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"

namespace netbench::report {

namespace {

constexpr std::int64_t kGlobalRouteBytes = 40;  // GRH, and an IPv6 header
constexpr std::int64_t kIpv4HeaderBytes = 20;
constexpr std::int64_t kUdpHeaderBytes = 8;
constexpr std::int64_t kTcpHeaderBytes = 20;
constexpr std::int64_t kLocalRouteBytes = 8;      // LRH
constexpr std::int64_t kBaseTransportBytes = 12;  // BTH
constexpr std::int64_t kInvariantCrcBytes = 4;    // ICRC
constexpr std::int64_t kVariantCrcBytes = 2;      // VCRC
constexpr std::int64_t kRemoteAddressBytes = 16;  // RETH
constexpr std::int64_t kImmediateBytes = 4;       // ImmDt
constexpr std::int64_t kDatagramBytes = 8;        // DETH
constexpr std::int64_t kAcknowledgeBytes = 4;     // AETH
constexpr std::int64_t kMinEthernetPayload = 46;  // IEEE 802.3, clause 3.2.7
constexpr std::int64_t kMpaBytes = 6;             // length and CRC
constexpr std::int64_t kTaggedBytes = 14;
constexpr std::int64_t kUntaggedBytes = 18;

std::int64_t padded(std::int64_t bytes) { return (bytes + 3) / 4 * 4; }

std::int64_t ip_bytes(const RdmaLink& link) {
  return link.family == IpFamily::ipv4 ? kIpv4HeaderBytes : kGlobalRouteBytes;
}

/// Headers of every packet between the link's framing and the payload.
std::int64_t headers_of(const RdmaLink& link, const RdmaMessages& messages) {
  const std::int64_t transport =
      kBaseTransportBytes + kInvariantCrcBytes + (messages.datagram ? kDatagramBytes : 0);
  switch (link.wire) {
    case RdmaWire::roce_v2:
      return ip_bytes(link) + kUdpHeaderBytes + transport;
    case RdmaWire::roce_v1:
      return kGlobalRouteBytes + transport;
    case RdmaWire::infiniband:
      return kLocalRouteBytes + kVariantCrcBytes + transport;
    case RdmaWire::iwarp:
      return ip_bytes(link) + kTcpHeaderBytes + kMpaBytes +
             (messages.remote_address || messages.response ? kTaggedBytes : kUntaggedBytes);
  }
  return 0;
}

/// Payload of a full packet.
std::int64_t room_of(const RdmaLink& link, const RdmaMessages& messages) {
  return link.wire == RdmaWire::iwarp ? (link.path_mtu_bytes - headers_of(link, messages)) / 4 * 4
                                      : link.path_mtu_bytes;
}

/// Headers that stand in one packet of a message alone.
std::int64_t once_bytes(const RdmaLink& link, const RdmaMessages& messages, std::int64_t packets) {
  if (link.wire == RdmaWire::iwarp) {
    return 0;
  }
  return (messages.remote_address ? kRemoteAddressBytes : 0) +
         (messages.immediate ? kImmediateBytes : 0) +
         (messages.response ? kAcknowledgeBytes * std::min<std::int64_t>(packets, 2) : 0);
}

std::int64_t on_the_wire(const RdmaLink& link, std::int64_t packet) {
  return link.wire == RdmaWire::infiniband
             ? packet
             : std::max(packet, kMinEthernetPayload) + kEthernetOverheadBytes;
}

/// All bytes of a message on the wire, in so many packets.
std::int64_t wire_bytes(const RdmaLink& link, const RdmaMessages& messages, std::int64_t packets) {
  const std::int64_t headers = headers_of(link, messages);
  const std::int64_t room = room_of(link, messages);
  const std::int64_t last = padded(messages.size_bytes - (packets - 1) * room);
  return (packets - 1) * on_the_wire(link, headers + room) +
         on_the_wire(link, headers + last + once_bytes(link, messages, packets));
}

std::string_view name_of(const RdmaLink& link) {
  constexpr std::array<std::string_view, 4> kNames{"RoCE v2", "RoCE v1", "InfiniBand", "iWARP"};
  return kNames.at(static_cast<std::size_t>(link.wire));
}

}  // namespace

Ceiling rdma_goodput_ceiling(const RdmaLink& link, const RdmaMessages& messages) {
  const std::int64_t room = room_of(link, messages);
  if (!(link.rate_bps > 0)) {
    return {std::nullopt, "unknown, because the link rate is not known"};
  }
  if (room <= 0 || messages.size_bytes <= 0) {
    return {std::nullopt, fmt::format("unknown, because a path MTU of {} B leaves no room for "
                                      "messages of {} B",
                                      link.path_mtu_bytes, messages.size_bytes)};
  }
  const std::int64_t packets = (messages.size_bytes + room - 1) / room;
  const std::int64_t wire = wire_bytes(link, messages, packets);
  const bool routed = link.wire == RdmaWire::roce_v2 || link.wire == RdmaWire::iwarp;
  return {link.rate_bps * static_cast<double>(messages.size_bytes) / static_cast<double>(wire),
          fmt::format("{} x {} B payload / {} B on the wire in {} packet{} ({}{}, {} {})",
                      format_bits_per_second(link.rate_bps), messages.size_bytes, wire, packets,
                      packets == 1 ? "" : "s", name_of(link),
                      !routed                         ? ""
                      : link.family == IpFamily::ipv4 ? " over IPv4"
                                                      : " over IPv6",
                      link.wire == RdmaWire::iwarp ? "MTU" : "path MTU", link.path_mtu_bytes)};
}

}  // namespace netbench::report
