#include <fmt/format.h>

#include <algorithm>

#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// One frame in ten million: a budget of loss that TCP at 10 Gb/s and 10 ms still lives with.
constexpr double kFrameErrorShare = 1e-7;
/// Lost of frames received, from which TCP in a data centre feels it.
constexpr double kRingDropShare = 1e-6;
/// Pauses a second below which nobody waits, and the share of time that counts as throttled.
constexpr double kPausesPerSecond = 10;
constexpr double kPauseShare = 0.01;

std::string device_and(const Look& look, End end, const std::string& what) {
  return fmt::format("{}: {}", device_of(look, end), what);
}

Verdict not_counted(const Look& look, End end) {
  return unknown(device_and(look, end, "no interface counters"));
}

double received_packets(Look& look, End end) {
  return std::max(1.0, look.total(end, "if.*.rx_packets").value_or(0));
}

Verdict bit_errors(Look& look, End end) {
  const CounterSum errors = sum_counters(look, end,
                                         {{"if.*.", "rx_crc_errors"},
                                          {"ethtool.*.", "crc_err"},
                                          {"ethtool.*.", "fcs_err"},
                                          {"ethtool.*.", "symbol_err"}});
  if (!errors.read) {
    return not_counted(look, end);
  }
  if (errors.total <= 0) {
    return silent(device_and(look, end, "no damaged frame"));
  }
  const double share = errors.total / received_packets(look, end);
  Verdict verdict = fires(
      share > kFrameErrorShare ? Confidence::likely : Confidence::possible,
      share > kFrameErrorShare ? 0.9 : 0.4,
      device_and(look, end, fmt::format("{} ({:.2g} of frames)", errors.names, share)),
      fmt::format("{} receives damaged frames ({}): a bad cable, connector, module or port",
                  device_of(look, end), errors.names),
      {fmt::format("reseat and clean the connector of {}, then swap cable, module and switch port "
                   "one by one",
                   device_of(look, end)),
       fmt::format("ethtool -S {} | grep -Ei 'crc|fcs|symbol'", look.interface(end)),
       "read the error counters of " + switch_port(look, end) + " too"});
  return share > kFrameErrorShare ? verdict : milder(std::move(verdict));
}

Verdict fec_errors(Look& look, End end) {
  const CounterSum errors =
      sum_counters(look, end, {{"ethtool.*.", "uncorrectable"}, {"ethtool.*.", "fec_uncorr"}});
  if (!errors.read) {
    return unknown(device_and(look, end, "no driver counters"));
  }
  if (errors.total <= 0) {
    return silent(device_and(look, end, "no block that FEC could not correct"));
  }
  return fires(Confidence::likely, 0.85, device_and(look, end, errors.names),
               fmt::format("forward error correction of {} gives up on blocks ({}): the signal is "
                           "too weak",
                           device_of(look, end), errors.names),
               {fmt::format("ethtool -I --show-fec {}", look.interface(end)),
                fmt::format("ethtool -m {}", look.interface(end)),
                "the same FEC mode at both ends; then another cable or module"});
}

Verdict flaps(Look& look, End end) {
  const CounterSum downs = sum_counters(look, end,
                                        {{"if.*.", "carrier_changes"},
                                         {"if.*.", "carrier_down_count"},
                                         {"ethtool.*.", "link_down_events"}});
  if (!downs.read) {
    return not_counted(look, end);
  }
  if (downs.total <= 0) {
    return silent(device_and(look, end, "the link stayed up"));
  }
  return fires(Confidence::confirmed, 0.95, device_and(look, end, downs.names),
               fmt::format("the link of {} went down during the run ({})", device_of(look, end),
                           downs.names),
               {fmt::format("dmesg | grep -i {}", look.interface(end)),
                "reseat the cable and the module; then another cable, module or switch port; see "
                "the module's temperature and power"});
}

Verdict ring_verdict(Look& look, const CounterSum& lost, double share) {
  const End end = End::receiver;
  const std::string device = look.interface(end);
  const auto ring = look.fact(end, "if.*.ring.rx_descriptors");
  const auto largest = look.fact(end, "if.*.ring.rx_max_descriptors");
  const bool can_grow = ring && largest && *ring < *largest;
  const bool busy = look.nearness("softirq").value_or(0) > 0.9;
  const std::string size =
      can_grow ? fmt::format(", ring {:.0f} of {:.0f} descriptors", *ring, *largest) : "";
  std::vector<std::string> remedy;
  if (can_grow) {
    remedy.push_back(fmt::format("ethtool -G {} rx {:.0f}", device, *largest));
  }
  remedy.push_back(
      fmt::format("spread the receive queues over more CPUs: ethtool -L {} combined N", device));
  return fires(
      can_grow || busy ? Confidence::likely : Confidence::possible,
      share > kRingDropShare ? 0.9 : 0.4,
      device_and(look, end, fmt::format("{} ({:.2g} of frames){}", lost.names, share, size)),
      fmt::format("{} drops frames for want of receive descriptors ({}{})", device_of(look, end),
                  lost.names, size),
      std::move(remedy));
}

/// Pauses in one direction, and the share of the time they lasted where the driver counts it.
struct Pauses {
  bool read = false;
  double frames = 0;
  std::optional<double> share;
  std::string names;
};

// mlx5 counts rx_prio<n>_pause_duration in microseconds (kernel documentation,
// networking/device_drivers/ethernet/mellanox/mlx5/counters).
Pauses pauses_of(Look& look, End end, bool received) {
  const std::string_view way = received ? "rx" : "tx";
  Pauses pauses;
  double duration_us = 0;
  for (const auto& [key, total] : look.totals_below(end, "ethtool.*.")) {
    pauses.read = true;
    const auto name = std::string_view(key).substr(key.rfind('.') + 1);
    const bool pause =
        name.find("pause") != std::string_view::npos || name.find("xoff") != std::string_view::npos;
    if (!pause || !name.starts_with(way) || total <= 0) {
      continue;
    }
    if (name.find("duration") != std::string_view::npos) {
      duration_us += total;
    } else if (name.find("transition") == std::string_view::npos) {
      pauses.frames += total;
    }
    pauses.names += fmt::format("{}{} {:.0f}", pauses.names.empty() ? "" : ", ", name, total);
    static_cast<void>(look.total(end, key));  // cites it
  }
  if (const auto elapsed = look.elapsed_s(end); elapsed && duration_us > 0) {
    pauses.share = duration_us * 1e-6 / *elapsed;
  }
  return pauses;
}

Verdict pause_verdict(const Look& look, End end, bool received, const Pauses& pauses) {
  const std::string device = look.interface(end);
  const std::string share =
      pauses.share ? fmt::format(", {:.1f} % of the time", 100 * *pauses.share) : "";
  const std::string cause =
      received ? fmt::format("{} is told to pause by the switch or the peer ({}{})",
                             device_of(look, end), pauses.names, share)
               : fmt::format(
                     "{} tells the switch or the peer to pause ({}{}): its receive path is "
                     "late",
                     device_of(look, end), pauses.names, share);
  return fires(pauses.share.value_or(0) > kPauseShare ? Confidence::likely : Confidence::possible,
               std::min(1.0, 0.6 + pauses.share.value_or(0)),
               device_and(look, end, pauses.names + share), cause,
               {received ? "find the slow receiver behind the pauses first: the end that sends them"
                         : fmt::format("relieve the receiver: more queues (ethtool -L {} combined "
                                       "N), the card's own NUMA node, a wider slot",
                                       device),
                fmt::format("ethtool -A {} rx off tx off, or priority flow control for the "
                            "lossless class alone",
                            device)});
}

Verdict pauses_at(Look& look, End end) {
  const bool received = end == End::sender;
  const Pauses pauses = pauses_of(look, end, received);
  if (!pauses.read) {
    return unknown(device_and(look, end, "no driver counters"));
  }
  const double per_second = pauses.frames / std::max(1.0, look.elapsed_s(end).value_or(1));
  if (per_second < kPausesPerSecond && pauses.share.value_or(0) <= kPauseShare) {
    return silent(device_and(look, end,
                             fmt::format("{:.1f} pause frames {} a second", per_second,
                                         received ? "received" : "sent")));
  }
  return pause_verdict(look, end, received, pauses);
}

Verdict collisions(Look& look, End end) {
  const CounterSum seen = sum_counters(
      look, end,
      {{"if.*.", "collisions"}, {"if.*.", "tx_window_errors"}, {"ethtool.*.", "collision"}});
  if (!seen.read) {
    return not_counted(look, end);
  }
  if (seen.total <= 0) {
    return silent(device_and(look, end, "no collision"));
  }
  return fires(Confidence::likely, 0.9, device_and(look, end, seen.names),
               fmt::format("{} sees collisions ({}): one side of its link runs at half duplex",
                           device_of(look, end), seen.names),
               {fmt::format("ethtool -s {} autoneg on", look.interface(end)),
                "auto-negotiation on at the switch port too"});
}

}  // namespace

Verdict judge_bit_errors(Look& look) { return either_end(look, bit_errors); }
Verdict judge_fec_errors(Look& look) { return either_end(look, fec_errors); }
Verdict judge_flaps(Look& look) { return either_end(look, flaps); }
Verdict judge_collisions(Look& look) { return either_end(look, collisions); }
Verdict judge_pauses(Look& look) { return either_end(look, pauses_at); }

Verdict judge_receive_ring(Look& look) {
  const CounterSum lost = sum_counters(look, End::receiver,
                                       {{"if.*.", "rx_missed_errors"},
                                        {"if.*.", "rx_fifo_errors"},
                                        {"ethtool.*.", "rx_missed"},
                                        {"ethtool.*.", "rx_no_buffer"},
                                        {"ethtool.*.", "out_of_buffer"},
                                        {"ethtool.*.", "rx_discards_phy"}});
  if (!lost.read) {
    return not_counted(look, End::receiver);
  }
  if (lost.total <= 0) {
    return silent(device_and(look, End::receiver, "no frame lost for want of descriptors"));
  }
  const double share = lost.total / received_packets(look, End::receiver);
  Verdict verdict = ring_verdict(look, lost, share);
  return share > kRingDropShare ? verdict : milder(std::move(verdict));
}

}  // namespace netbench::report
