#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/core/units.hpp"
#include "report/diagnose/path_judges.hpp"
#include "report/diagnose/signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Fewer lost segments say too little of how they are lost.
constexpr double kLossesNeeded = 20;
/// Measured with 0.1 … 2 % of random loss, Reno and CUBIC: 0.88 … 1.28 of the model.
constexpr double kModelLow = 0.5;
constexpr double kModelHigh = 1.6;
/// Loss that a wired path never has, whatever the model says of it.
constexpr double kMuchLoss = 1e-3;
constexpr double kSomeLoss = 1e-5;
/// Round trips on which even rare loss costs CUBIC.
constexpr double kLongPath_us = 5'000;
/// Measured: a policer at 100 Mb/s drops 9 … 19 %.
constexpr double kPoliced = 0.03;
constexpr double kPolicedInBursts = 0.01;
constexpr double kLostAgain = 0.02;
constexpr double kLongBurst = 10;
constexpr double kShallowLow = 1e-4;
constexpr double kScales = 1.5;
constexpr double kLocal = 0.5;
/// Segments lost at once, on the average.
constexpr double kBurst = 5;

/// The losses where they are the path's and no queue's; else what speaks against it.
struct PathLoss {
  std::optional<Losses> losses;
  Verdict against;
};

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

/// Segments lost for each time the sender noticed.
std::optional<double> burst_size(Look& look, const Losses& found) {
  const auto recoveries = look.total(End::sender, "netstat.TCPSackRecovery");
  const auto timeouts = look.total(End::sender, "netstat.TCPTimeouts");
  const double noticed = recoveries.value_or(0) + timeouts.value_or(0);
  return noticed > 0 ? std::optional(found.lost / noticed) : std::nullopt;
}

/// Segments lost at once, where the sender cuts them itself: behind segmentation offload one packet
/// dropped is many segments (measured: 714 drops, 20,826 segments).
bool lost_in_bursts(Look& look, const std::optional<double>& burst) {
  return burst && *burst >= kBurst && look.fact(End::sender, "if.*.offload.tso") == 0.0;
}

/// Measured over what loss allows where a burst counts as one loss, as the sender reacts to it.
std::optional<double> nearness_of_bursts(Look& look, double burst) {
  const auto near = look.nearness("loss");
  return near ? std::optional(*near / std::sqrt(burst)) : std::nullopt;
}

/// The row that differs from this one in its direction alone.
const Measurement* other_direction(const Look& look) {
  const Measurement& row = *look.row();
  const Direction wanted =
      row.direction == Direction::forward ? Direction::reverse : Direction::forward;
  const auto& rows = look.document().measurements;
  const auto found = std::ranges::find_if(rows, [&](const Measurement& other) {
    return other.direction == wanted && other.transport == row.transport &&
           other.workload == row.workload && other.size_bytes == row.size_bytes &&
           other.mtu_bytes == row.mtu_bytes && other.tunables.requested == row.tunables.requested &&
           other.summary.goodput_bps;
  });
  return found == rows.end() ? nullptr : &*found;
}

/// What the other direction says of loss that only goes from the fast to the slow host.
struct Opposite {
  std::optional<double> share;  // of its segments lost
  double faster = 0;            // its goodput over this row's
};

std::optional<Opposite> opposite(Look& look) {
  const Measurement* other = other_direction(look);
  const auto own = look.goodput_bps();
  if (other == nullptr || !own || *own <= 0) {
    return std::nullopt;
  }
  look.cite(fmt::format("/measurements/{}/summary/goodput_bps",
                        other - look.document().measurements.data()));
  Look there(look.document(), other, {});
  const auto lost = losses(there);
  return Opposite{lost ? std::optional(lost->share()) : std::nullopt,
                  *other->summary.goodput_bps / *own};
}

std::optional<double> speed_ratio(Look& look) {
  const auto fast = look.fact(End::sender, "if.*.speed_bps");
  const auto slow = look.fact(End::receiver, "if.*.speed_bps");
  return fast && slow && *slow > 0 ? std::optional(*fast / *slow) : std::nullopt;
}

Verdict shallow(Look& look, double nearness, const std::string& why, Confidence confidence) {
  const auto slow_bps = look.fact(End::receiver, "if.*.speed_bps");
  const double rate_mbps = (slow_bps ? 0.9 * *slow_bps : look.goodput_bps().value_or(0)) * 1e-6;
  return fires(confidence, nearness, why,
               fmt::format("bursts of {} overflow a shallow buffer on the way to {}",
                           look.host_name(End::sender), look.host_name(End::receiver)),
               {on(look, End::sender,
                   fmt::format("tc qdisc replace dev {} root fq maxrate {:.0f}mbit",
                               look.interface(End::sender), rate_mbps)),
                "more buffer on the switch port that changes the speed, or ECN"});
}

/// Two speeds and a fast other direction, on paper alone (a ticket without counters).
Verdict shallow_by_rates(Look& look) {
  constexpr double kMuchFaster = 1.5;
  constexpr double kMuchSlower = 2;
  const auto speeds = speed_ratio(look);
  const auto other = opposite(look);
  if (!speeds || !other) {
    return unknown("retransmits, both speeds or the other direction were not measured");
  }
  const std::string why = fmt::format(
      "sender's link x{:.1f} of the receiver's, other direction "
      "x{:.1f} of this one",
      *speeds, other->faster);
  return *speeds > kMuchFaster && other->faster > kMuchSlower
             ? shallow(look, 0.6, why, Confidence::possible)
             : silent(why);
}

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

Verdict judge_shallow_buffer(Look& look) {
  const PathLoss path = path_loss(look);
  if (!path.losses) {
    return path.against.outcome == Outcome::unknown ? shallow_by_rates(look) : path.against;
  }
  const Losses& found = *path.losses;
  const auto burst = burst_size(look, found);
  const auto other = opposite(look);
  const auto speeds = speed_ratio(look);
  const bool clean = other && other->share && *other->share < found.share() / 10;
  const bool dirty = other && other->share && !clean;
  const bool slower = speeds && *speeds > 1;
  const bool bursty = burst && *burst >= kBurst;
  const std::string why = fmt::format(
      "{}{}{}{}", found.text(), burst ? fmt::format(", {:.1f} at a time", *burst) : "",
      speeds ? fmt::format(", sender's link x{:.1f} of the receiver's", *speeds) : "",
      other && other->share ? fmt::format(", other direction {}", percent(*other->share)) : "");
  if (found.share() < kShallowLow || found.share() > kPoliced || dirty || !(slower || bursty)) {
    return silent(why);
  }
  if (slower && (clean || bursty)) {
    return shallow(look, 0.9, why, Confidence::likely);
  }
  const auto near = lost_in_bursts(look, burst) ? nearness_of_bursts(look, *burst) : std::nullopt;
  if (near && *near >= kModelLow) {
    return shallow(look, std::min(1.0, *near),
                   fmt::format("{}, {:.2f} of what that allows", why, *near),
                   clean ? Confidence::likely : Confidence::possible);
  }
  return slower || clean ? shallow(look, 0.5, why, Confidence::possible) : silent(why);
}

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
  const bool proof = timeouts > 0 || (more && *more < 1.2);
  const double rate_mbps = look.goodput_bps().value_or(0) * 1e-6;
  return fires(
      proof ? Confidence::likely : Confidence::possible, 1 - found.share(), why,
      fmt::format("a policer drops what exceeds about {:.0f} Mb/s, without a queue", rate_mbps),
      {on(look, End::sender,
          fmt::format("tc qdisc replace dev {} root tbf rate {:.0f}mbit burst "
                      "256kb latency 50ms",
                      look.interface(End::sender), 0.8 * rate_mbps)),
       "ask who polices the path (cloud limit, firewall, switch port) for its rate"});
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
  if (more && *more < 1.2) {
    return silent(why + ": loss would let each stream have its own");
  }
  if (near && *near >= kModelLow && *near <= kModelHigh) {
    return lossy(look, found, std::min(1.0, *near), Confidence::likely, why);
  }
  if (lost_in_bursts(look, burst_size(look, found))) {
    return silent(why + ", but lost in bursts, as a short queue loses them");
  }
  const auto trip = round_trip(look);
  const bool long_path = trip && trip->smallest_us >= kLongPath_us;
  if ((near && *near < kModelLow) || (found.share() < kMuchLoss && !long_path)) {
    return silent(why);
  }
  return lossy(look, found, 0.6, Confidence::possible, why);
}

}  // namespace netbench::report
