#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace netbench::report {

enum class WireProtocol { tcp, udp };
enum class IpFamily { ipv4, ipv6 };

/// Bytes an Ethernet frame takes on the wire beside the IP packet: preamble and start delimiter 8,
/// header 14, FCS 4, gap 12 (IEEE 802.3, clauses 3 and 4.4.2).
inline constexpr int kEthernetOverheadBytes = 38;
/// What a Linux token bucket (tc-tbf) counts beside the IP packet: the 14-byte header alone.
inline constexpr int kTokenBucketOverheadBytes = 14;

struct WireLink {
  double rate_bps = 0;
  std::int64_t mtu_bytes = 1500;
  int overhead_bytes = kEthernetOverheadBytes;
  bool vlan = false;  // one 802.1Q tag, 4 bytes
};

struct WireTraffic {
  WireProtocol protocol = WireProtocol::tcp;
  IpFamily family = IpFamily::ipv4;
  bool tcp_timestamps = true;       // 12 bytes a segment (RFC 7323, appendix A)
  std::int64_t mss_bytes = 0;       // payload of a segment as TCP_MAXSEG reads it; 0: from the MTU
  std::int64_t datagram_bytes = 0;  // UDP payload a datagram; 0: the largest unfragmented one
};

/// An upper limit with its arithmetic, or no value and why it is not known.
struct Ceiling {
  std::optional<double> goodput_bps;
  std::string note;
};

/// Payload rate of a link that is never idle, one direction: rate × payload / bytes on the wire
/// (headers: RFC 791, RFC 8200, RFC 9293, RFC 768; datagrams over the MTU as IP fragments). No
/// value where the rate or the MTU is not positive or leaves no room for payload.
[[nodiscard]] Ceiling goodput_ceiling(const WireLink& link, const WireTraffic& traffic);

}  // namespace netbench::report
