#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/facts.hpp"

namespace netbench::facts {

/// The link of one port by ETHTOOL_GLINKSETTINGS, as the ioctl gives it.
struct LinkSettings {
  std::uint32_t speed_mbps = 0;  // 0 and 2^32-1: not known
  std::uint8_t duplex = 0xFF;    // DUPLEX_*
  bool autonegotiation = false;
  std::uint8_t mdix = 0;                 // ETH_TP_MDI_*
  std::vector<std::uint32_t> supported;  // masks of link modes, bit n = mode n
  std::vector<std::uint32_t> advertised;
  std::vector<std::uint32_t> partner_advertised;  // empty bits: the partner told nothing
};

/// Speed of the fastest link mode in a mask, in Mb/s, 0 if none has one. `names` by bit, as the
/// kernel calls them: "100000baseKR4/Full". Pure.
[[nodiscard]] std::int64_t fastest_mode_mbps(std::span<const std::uint32_t> mask,
                                             std::span<const std::string> names);

/// speed_bps, duplex, autonegotiation, speed_max_bps, speed_negotiable_bps (the fastest mode that
/// both ends advertise), downshift (the link runs slower than that: a pair of the cable is bad,
/// IEEE 802.3 clause 28 auto-negotiation having agreed on more), mdix. Pure.
[[nodiscard]] std::vector<Fact> link_settings_facts(const LinkSettings& settings,
                                                    std::span<const std::string> names);

/// The above, eee.{enabled, active} and fec.{active, configured} of an interface.
void add_link_settings(int socket, const std::string& interface, std::vector<Fact>& facts);

/// "rs", "baser", "off", "auto,rs": the bits of ethtool_fecparam. Pure.
[[nodiscard]] std::string fec_text(std::uint32_t bits);

}  // namespace netbench::facts
