#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"

namespace netbench::facts {

/// An Ethernet frame with an ARP request (RFC 826).
inline constexpr std::size_t kArpFrameBytes = 42;
using ArpFrame = std::array<std::uint8_t, kArpFrameBytes>;
using MacAddress = std::array<std::uint8_t, 6>;
using Ipv4Bytes = std::array<std::uint8_t, 4>;

/// Asks everyone on the link who has `target`. Pure.
[[nodiscard]] ArpFrame arp_request(const MacAddress& own_mac, const Ipv4Bytes& own,
                                   const Ipv4Bytes& target);

/// "02:00:…" of the sender, where the frame is a reply that says who has `target`. Pure.
[[nodiscard]] std::optional<std::string> arp_owner(std::span<const std::uint8_t> frame,
                                                   const Ipv4Bytes& target);

/// Hardware addresses that answer for an IPv4 address on an interface's link within `limit`, each
/// once: more than one means that several hosts have it (RFC 5227). Two requests are sent. Errors:
/// `not-permitted` (needs CAP_NET_RAW), `bad-address`, `interface-unknown`, `arp`.
[[nodiscard]] Result<std::vector<std::string>> arp_owners(const std::string& interface,
                                                          const std::string& own_address,
                                                          const std::string& address,
                                                          Nanoseconds limit);

}  // namespace netbench::facts
