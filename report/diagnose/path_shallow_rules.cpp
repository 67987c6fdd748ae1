#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diagnose/path_judges.hpp"
#include "report/diagnose/path_losses.hpp"

namespace netbench::report {

namespace {

constexpr double kShallowLow = 1e-4;
/// The same where a packet may be many segments.
constexpr double kBurst = 5;

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
  const bool together = lost_in_bursts(look, burst);
  const bool bursty = together || (burst && *burst >= kBurst);
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
  const auto near = together ? nearness_of_bursts(look, *burst) : std::nullopt;
  if (near && *near >= kModelLow) {
    return shallow(look, std::min(1.0, *near),
                   fmt::format("{}, {:.2f} of what that allows", why, *near),
                   clean ? Confidence::likely : Confidence::possible);
  }
  return slower || clean ? shallow(look, 0.5, why, Confidence::possible) : silent(why);
}

}  // namespace netbench::report
