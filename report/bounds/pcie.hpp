#pragma once

namespace netbench::report {

/// Framing, header, digest and the acknowledgements' share of one packet on a PCI Express link;
/// 256 B is the usual MaxPayload of servers.
inline constexpr double kPciePacketOverheadBytes = 26;
inline constexpr double kPciePacketPayloadBytes = 256;

/// Data bits of line bits: 8b/10b up to 5 GT/s, 128b/130b from 8, 242 of 256 bytes of a FLIT at 64
/// (PCI Express Base Specification 6.0).
[[nodiscard]] constexpr double pcie_encoding(double giga_transfers) {
  constexpr double kFlit = 242.0 / 256;
  constexpr double kScrambled = 128.0 / 130;
  constexpr double kEightOfTen = 0.8;
  return giga_transfers > 32 ? kFlit : giga_transfers > 5 ? kScrambled : kEightOfTen;
}

/// Payload that a link of that generation (2.5, 5, 8, 16, 32, 64 GT/s) and width carries each way.
[[nodiscard]] constexpr double pcie_usable_bps(double giga_transfers, double lanes) {
  return giga_transfers * 1e9 * lanes * pcie_encoding(giga_transfers) * kPciePacketPayloadBytes /
         (kPciePacketPayloadBytes + kPciePacketOverheadBytes);
}

}  // namespace netbench::report
