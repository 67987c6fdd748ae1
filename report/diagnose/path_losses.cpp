#include "report/diagnose/path_losses.hpp"

#include <fmt/format.h>

#include "report/diagnose/path_judges.hpp"

namespace netbench::report {

namespace {

/// Fewer lost segments say too little of how they are lost.
constexpr double kLossesNeeded = 20;
constexpr double kLocal = 0.5;
/// Frames of at most an MTU and its header are single ones.
constexpr double kFrameHeader_bytes = 40;

}  // namespace

PathLoss path_loss(Look& look) {
  if (const auto still = stalled(look)) {
    return {std::nullopt, silent(*still)};
  }
  const auto found = losses(look);
  if (!found) {
    return {std::nullopt, unknown("retransmits or segments were not counted")};
  }
  if (found->lost < kLossesNeeded) {
    return {std::nullopt, silent(found->text())};
  }
  const LocalDrops local = local_drops(look);
  if (local.count >= kLocal * found->lost) {
    return {std::nullopt, silent(fmt::format("{}, but {}", found->text(), local.text))};
  }
  if (has_standing_queue(look)) {
    return {std::nullopt,
            silent(found->text() + ", as a full queue loses them: see the round trip")};
  }
  return {found, {}};
}

std::optional<double> burst_size(Look& look, const Losses& found) {
  double noticed = 0;
  for (const char* how : {"TCPSackRecovery", "TCPRenoRecovery", "TCPTimeouts"}) {
    noticed += look.total(End::sender, fmt::format("netstat.{}", how)).value_or(0);
  }
  return noticed > 0 ? std::optional(found.lost / noticed) : std::nullopt;
}

bool sends_single_frames(Look& look) {
  if (look.fact(End::sender, "if.*.offload.tso") == 0.0) {
    return true;
  }
  const auto frame = look.ratio(End::sender, "if.*.tx_bytes", "if.*.tx_packets");
  const auto mtu = look.fact(End::sender, "if.*.mtu_bytes");
  return frame && mtu && *frame <= *mtu + kFrameHeader_bytes;
}

bool lost_in_bursts(Look& look, const std::optional<double>& burst) {
  return burst && *burst >= kTogether && sends_single_frames(look);
}

}  // namespace netbench::report
