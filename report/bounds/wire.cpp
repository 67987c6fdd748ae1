#include "report/bounds/wire.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"

namespace netbench::report {

namespace {

constexpr std::int64_t kIpv4HeaderBytes = 20;     // RFC 791, section 3.1, without options
constexpr std::int64_t kIpv6HeaderBytes = 40;     // RFC 8200, section 3
constexpr std::int64_t kIpv6FragmentBytes = 8;    // RFC 8200, section 4.5
constexpr std::int64_t kTcpHeaderBytes = 20;      // RFC 9293, section 3.1, without options
constexpr std::int64_t kTimestampBytes = 12;      // RFC 7323, appendix A
constexpr std::int64_t kUdpHeaderBytes = 8;       // RFC 768
constexpr std::int64_t kVlanTagBytes = 4;         // IEEE 802.1Q, clause 9.6
constexpr std::int64_t kMinEthernetPayload = 46;  // IEEE 802.3, clause 3.2.7
constexpr std::int64_t kFragmentUnitBytes = 8;    // RFC 791, section 3.1

/// Payload and all bytes on the wire of one segment or datagram, fragments included.
struct Burden {
  std::int64_t payload_bytes = 0;
  std::int64_t wire_bytes = 0;
  std::int64_t packets = 1;
};

std::int64_t frame_bytes(const WireLink& link, std::int64_t ip_packet_bytes) {
  return std::max(ip_packet_bytes, kMinEthernetPayload) + link.overhead_bytes +
         (link.vlan ? kVlanTagBytes : 0);
}

std::int64_t ip_header_bytes(const WireTraffic& traffic) {
  return traffic.family == IpFamily::ipv4 ? kIpv4HeaderBytes : kIpv6HeaderBytes;
}

Burden segment(const WireLink& link, const WireTraffic& traffic) {
  const std::int64_t headers =
      ip_header_bytes(traffic) + kTcpHeaderBytes + (traffic.tcp_timestamps ? kTimestampBytes : 0);
  const std::int64_t room = link.mtu_bytes - headers;
  const std::int64_t payload = traffic.mss_bytes > 0 ? std::min(room, traffic.mss_bytes) : room;
  return {payload, frame_bytes(link, headers + payload), 1};
}

Burden fragmented(const WireLink& link, const WireTraffic& traffic) {
  const std::int64_t header =
      ip_header_bytes(traffic) + (traffic.family == IpFamily::ipv6 ? kIpv6FragmentBytes : 0);
  const std::int64_t room = (link.mtu_bytes - header) / kFragmentUnitBytes * kFragmentUnitBytes;
  if (room <= 0) {
    return {};
  }
  const std::int64_t data = traffic.datagram_bytes + kUdpHeaderBytes;
  const std::int64_t full = (data - 1) / room;
  return {traffic.datagram_bytes,
          full * frame_bytes(link, header + room) + frame_bytes(link, header + data - full * room),
          full + 1};
}

Burden datagram(const WireLink& link, const WireTraffic& traffic) {
  const std::int64_t headers = ip_header_bytes(traffic) + kUdpHeaderBytes;
  const std::int64_t room = link.mtu_bytes - headers;
  if (traffic.datagram_bytes > room) {
    return fragmented(link, traffic);
  }
  const std::int64_t payload = traffic.datagram_bytes > 0 ? traffic.datagram_bytes : room;
  return {payload, frame_bytes(link, headers + payload), 1};
}

std::string arithmetic(const WireLink& link, const WireTraffic& traffic, const Burden& burden) {
  const std::string packets =
      burden.packets == 1 ? std::string() : fmt::format(" in {} fragments", burden.packets);
  return fmt::format(
      "{} x {} B payload / {} B on the wire{} (MTU {}, {}, {} B a frame{}{})",
      format_bits_per_second(link.rate_bps), burden.payload_bytes, burden.wire_bytes, packets,
      link.mtu_bytes, traffic.family == IpFamily::ipv4 ? "IPv4" : "IPv6", link.overhead_bytes,
      link.vlan ? " and a VLAN tag" : "",
      traffic.protocol == WireProtocol::tcp && traffic.tcp_timestamps ? ", TCP timestamps" : "");
}

}  // namespace

Ceiling goodput_ceiling(const WireLink& link, const WireTraffic& traffic) {
  if (!(link.rate_bps > 0)) {
    return {std::nullopt, "unknown, because the link rate is not known"};
  }
  const Burden burden =
      traffic.protocol == WireProtocol::tcp ? segment(link, traffic) : datagram(link, traffic);
  if (burden.payload_bytes <= 0) {
    return {std::nullopt, fmt::format("unknown, because an MTU of {} B leaves no room for payload",
                                      link.mtu_bytes)};
  }
  const double share =
      static_cast<double>(burden.payload_bytes) / static_cast<double>(burden.wire_bytes);
  return {link.rate_bps * share, arithmetic(link, traffic, burden)};
}

}  // namespace netbench::report
