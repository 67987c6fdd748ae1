#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "report/diagnose/path_judges.hpp"
#include "report/diagnose/path_losses.hpp"

namespace netbench::report {

namespace {

/// Loss that a wired path never has, whatever the model says of it.
constexpr double kMuchLoss = 1e-3;
constexpr double kSomeLoss = 1e-5;
/// Round trips on which even rare loss costs CUBIC.
constexpr double kLongPath_us = 5'000;
constexpr double kPolicedInBursts = 0.01;
constexpr double kLostAgain = 0.02;
constexpr double kLongBurst = 10;
constexpr double kScales = 1.5;
/// More streams that get less than this share something.
constexpr double kShared = 1.2;
/// What is beside the limit explains less than it.
constexpr double kBesideNearness = 0.7;

Verdict lossy(Look& look, const Losses& found, double nearness, Confidence confidence,
              const std::string& why) {
  const Bound* wire = look.bound("wire");
  std::vector<std::string> remedy = {
      "swap cable, module and switch port one by one; read the error counters of every port in "
      "between"};
  if (wire == nullptr && is_loss_based(congestion_of(look))) {
    remedy.emplace_back("where the loss cannot be mended: --tcp.congestion bbr");
  }
  Verdict verdict =
      fires(confidence, nearness, why,
            fmt::format(
                "the path from {} to {} loses {} of the segments without a queue: a bad cable, "
                "module or port",
                look.host_name(End::sender), look.host_name(End::receiver), percent(found.share())),
            std::move(remedy));
  if (confidence == Confidence::possible) {
    verdict.severity = Severity::warning;
  }
  return verdict;
}

/// Long bursts whose repairs are dropped too, up to timeouts: a bucket that stays empty. A short
/// queue has room again by then. Measured: policers 16 … 19 at a time, 2 … 13 % lost again.
bool drops_repairs(Look& look, const Losses& found) {
  const double timeouts = look.total(End::sender, "netstat.TCPTimeouts").value_or(0);
  const double again = look.total(End::sender, "netstat.TCPLostRetransmit").value_or(0);
  return found.share() >= kPolicedInBursts && timeouts > 0 && again >= kLostAgain * found.lost &&
         burst_size(look, found).value_or(0) >= kLongBurst;
}

}  // namespace

Verdict judge_policer(Look& look) {
  const PathLoss path = path_loss(look);
  if (!path.losses) {
    return path.against;
  }
  const Losses& found = *path.losses;
  const auto more = ratio_with_more_streams(look);
  const double timeouts = look.total(End::sender, "netstat.TCPTimeouts").value_or(0);
  const double again = look.total(End::sender, "netstat.TCPLostRetransmit").value_or(0);
  const std::string why =
      fmt::format("{}, {:.0f} timeouts, {:.0f} retransmits lost again{}", found.text(), timeouts,
                  again, more ? fmt::format(", more streams x{:.2f}", *more) : "");
  if ((found.share() < kPoliced && !drops_repairs(look, found)) || (more && *more > kScales)) {
    return silent(why);
  }
  const bool proof = timeouts > 0 || (more && *more < kShared);
  const double rate_mbps = look.goodput_bps().value_or(0) * 1e-6;
  return fires(
      proof ? Confidence::likely : Confidence::possible, 1 - found.share(), why,
      fmt::format("a policer drops what exceeds about {:.0f} Mb/s, without a queue", rate_mbps),
      // The connection alone: a shaper on the interface would slow whatever else leaves there.
      {fmt::format("--tcp.pacing {:.0f}M (in an application on {}: SO_MAX_PACING_RATE)",
                   0.8 * rate_mbps, look.host_name(End::sender)),
       "ask who polices the path (cloud limit, firewall, switch port) for its rate"});
}

// More streams keep their sum at a shared limit whatever the path loses: loss beside one is no
// less real.
Verdict judge_loss_beside_a_shaper(Look& look) {
  const PathLoss path = path_loss(look);
  if (!path.losses) {
    return path.against;
  }
  const Losses& found = *path.losses;
  const auto more = ratio_with_more_streams(look);
  const auto near = look.nearness("loss");
  const auto burst = burst_size(look, found);
  const std::string why =
      fmt::format("{}{}{}", found.text(), burst ? fmt::format(", {:.1f} at a time", *burst) : "",
                  near ? fmt::format(", {:.2f} of what loss allows", *near) : "");
  if (!shaped_at_the_sender(look) || !more || *more >= kShared) {
    return silent(why + "; no shaper of the sender's keeps the sum of streams down");
  }
  const bool single = burst && *burst < kTogether && sends_single_frames(look);
  if (!near || *near < kModelLow || *near > kModelHigh || found.share() < kMuchLoss || !single) {
    return silent(why + "; the loss is not the path's, or would not matter");
  }
  return lossy(look, found, std::min(kBesideNearness, *near), Confidence::likely, why);
}

Verdict judge_random_loss(Look& look) {
  const PathLoss path = path_loss(look);
  if (!path.losses) {
    return path.against;
  }
  const Losses& found = *path.losses;
  const auto more = ratio_with_more_streams(look);
  const auto near = look.nearness("loss");
  const std::string why = fmt::format(
      "{}{}{}", found.text(), near ? fmt::format(", {:.2f} of what loss allows", *near) : "",
      more ? fmt::format(", more streams x{:.2f}", *more) : "");
  const bool scales = more && *more >= kScales;
  if (found.share() < kSomeLoss || (found.share() >= kPoliced && !scales)) {
    return silent(why);
  }
  if (more && *more < kShared) {
    return silent(why + ": loss would let each stream have its own");
  }
  if (const auto burst = burst_size(look, found); lost_in_bursts(look, burst)) {
    return silent(
        fmt::format("{}, but {:.1f} at a time, as a short queue loses them", why, *burst));
  }
  if (near && *near >= kModelLow && *near <= kModelHigh) {
    return lossy(look, found, std::min(1.0, *near), Confidence::likely, why);
  }
  const auto trip = round_trip(look);
  const bool long_path = trip && trip->smallest_us >= kLongPath_us;
  if ((near && *near < kModelLow) || (found.share() < kMuchLoss && !long_path)) {
    return silent(why);
  }
  return lossy(look, found, 0.6, Confidence::possible, why);
}

}  // namespace netbench::report
