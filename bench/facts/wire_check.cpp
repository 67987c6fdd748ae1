#include "bench/facts/wire_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace netbench::facts {

int header_bytes(const PacketHeaders& headers) {
  constexpr int kTcp = 20;
  constexpr int kTcpTimestamps = 12;
  constexpr int kUdp = 8;
  const int network = headers.ipv6 ? 40 : 20;
  const int transport = headers.protocol == WireProtocol::udp
                            ? kUdp
                            : kTcp + (headers.timestamps ? kTcpTimestamps : 0);
  return headers.link_bytes + network + transport;
}

int counted_link_header_bytes(const std::string& interface_kind, bool loopback) {
  constexpr int kEthernet = 14;
  constexpr std::array<std::string_view, 7> kWithoutLinkHeader{"tun",    "wireguard", "ipip", "sit",
                                                               "ip6tnl", "gre",       "vti"};
  const bool none =
      loopback || std::ranges::find(kWithoutLinkHeader, interface_kind) != kWithoutLinkHeader.end();
  return none ? 0 : kEthernet;
}

std::optional<WireCheck> check_wire(const WireInput& input) {
  const double payload = input.payload_bytes + input.other_payload_bytes;
  if (payload <= 0 || input.rx_packets <= 0 || input.rx_bytes <= 0) {
    return std::nullopt;
  }
  const double headers = input.header_bytes * input.rx_packets;
  WireCheck check;
  check.wire_payload_bytes = std::max(0.0, input.rx_bytes - headers);
  const double surplus = check.wire_payload_bytes - payload;
  const double unexplained = std::max(0.0, surplus - input.repeated_bytes);
  check.disagreement = std::max(unexplained, -surplus) / payload;
  check.foreign_share = unexplained / input.rx_bytes;
  return check;
}

std::optional<WireInput> wire_input(const Counters& counters, const std::string& interface,
                                    const PacketHeaders& headers) {
  const auto bytes = counters.find(fmt::format("if.{}.rx_bytes", interface));
  const auto packets = counters.find(fmt::format("if.{}.rx_packets", interface));
  if (bytes == counters.end() || packets == counters.end()) {
    return std::nullopt;
  }
  WireInput input;
  input.rx_bytes = bytes->second;
  input.rx_packets = packets->second;
  input.header_bytes = header_bytes(headers);
  return input;
}

}  // namespace netbench::facts
