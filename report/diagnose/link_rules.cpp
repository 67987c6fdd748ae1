#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/core/units.hpp"
#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Ups and downs of the carrier since the driver was loaded that installing a host explains.
constexpr double kUsualCarrierChanges = 20;
/// Steps of latency that a sleeping link adds: wake-up times of IEEE 802.3az.
constexpr double kWakeMin_ns = 10e3;
constexpr double kWakeMax_ns = 200e3;

std::vector<std::string> renegotiate(const std::string& device, bool autonegotiation_off) {
  std::vector<std::string> remedy;
  if (autonegotiation_off) {
    remedy.push_back(fmt::format("ethtool -s {} autoneg on", device));
    remedy.push_back(
        fmt::format("nmcli connection modify {} 802-3-ethernet.auto-negotiate yes", device));
  }
  remedy.push_back(
      "swap the cable or module, then the switch port; see that the port is not "
      "forced to this speed");
  remedy.push_back(fmt::format("ethtool {}", device));
  return remedy;
}

Verdict negotiated_speed(Look& look, End end) {
  const auto speed = look.fact(end, "if.*.speed_bps");
  const auto most = look.fact(end, "if.*.speed_max_bps");
  const bool downshift = look.fact(end, "if.*.downshift") == 1.0;
  if (!speed || (!most && !downshift)) {
    return unknown(
        fmt::format("{}: speed or the fastest supported not known", device_of(look, end)));
  }
  const std::string why =
      fmt::format("{} runs at {}{}", device_of(look, end), format_bits_per_second(*speed),
                  most ? " of " + format_bits_per_second(*most) : "");
  if (!downshift && *speed >= *most) {
    return silent(why);
  }
  const bool forced = look.fact(end, "if.*.autonegotiation") == 0.0;
  const std::string detail = downshift ? "; the PHY gave up the higher speed (downshift): the cable"
                             : forced  ? "; auto-negotiation is off"
                                       : "";
  return fires(Confidence::likely, std::max(0.5, most ? 1 - *speed / *most : 0.0), why + detail,
               fmt::format("the link of {}, slower than it can{}", why, detail),
               renegotiate(look.interface(end), forced));
}

Verdict half_duplex(Look& look, End end) {
  const auto duplex = look.fact_text(end, "if.*.duplex");
  if (!duplex) {
    return unknown(fmt::format("{}: duplex not known", device_of(look, end)));
  }
  if (*duplex != "half") {
    return silent(fmt::format("{}: {} duplex", device_of(look, end), *duplex));
  }
  const std::string device = look.interface(end);
  return fires(Confidence::likely, 0.9, fmt::format("{}: half duplex", device_of(look, end)),
               fmt::format("{} runs at half duplex: it cannot send and receive at once",
                           device_of(look, end)),
               {fmt::format("ethtool -s {} autoneg on", device),
                "auto-negotiation on at the switch port too"});
}

Verdict energy_saving(Look& look, End end) {
  const auto enabled = look.fact(end, "if.*.eee.enabled");
  if (!enabled) {
    return unknown(fmt::format("{}: energy-efficient Ethernet not read", device_of(look, end)));
  }
  if (*enabled == 0) {
    return silent(fmt::format("{}: energy-efficient Ethernet off", device_of(look, end)));
  }
  return fires(Confidence::possible, 0.3,
               fmt::format("{}: energy-efficient Ethernet on", device_of(look, end)),
               fmt::format("{} sleeps between packets (energy-efficient Ethernet): latency gains "
                           "steps of 10 to 100 us",
                           device_of(look, end)),
               {fmt::format("ethtool --set-eee {} eee off", look.interface(end))});
}

Verdict judge_energy_steps(Look& look) {
  Verdict verdict = either_end(look, energy_saving);
  const Measurement* row = look.row();
  if (verdict.outcome != Outcome::fires) {
    return verdict;
  }
  if (row == nullptr || !row->summary.rtt_p50_ns || !row->summary.rtt_p99_ns) {
    return unknown(verdict.why + "; the tail of the round trip is not known");
  }
  const double step_ns = *row->summary.rtt_p99_ns - *row->summary.rtt_p50_ns;
  const std::string why =
      fmt::format("{}; p99 is {} above the median", verdict.why, format_ns(step_ns));
  if (step_ns < kWakeMin_ns || step_ns > kWakeMax_ns) {
    return silent(why);
  }
  verdict.why = why;
  verdict.nearness = 0.5;
  return verdict;
}

Verdict carrier_history(Look& look, End end) {
  const auto changes = look.fact(end, "if.*.carrier_changes");
  if (!changes) {
    return unknown(fmt::format("{}: carrier changes not read", device_of(look, end)));
  }
  const std::string why = fmt::format("{}: carrier changed {:.0f} times since it came up",
                                      device_of(look, end), *changes);
  if (*changes <= kUsualCarrierChanges) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.3, why, why + ": the link was lost now and then",
      {fmt::format("dmesg | grep -i {}", look.interface(end)), "reseat the cable and the module"});
}

Verdict judge_driver_versions(Look& look) {
  const auto near_driver = look.fact_text(End::sender, "if.*.driver");
  const auto far_driver = look.fact_text(End::receiver, "if.*.driver");
  if (!near_driver || !far_driver) {
    return unknown("the driver of an end is not known");
  }
  if (*near_driver != *far_driver) {
    return silent(fmt::format("different cards: {} and {}", *near_driver, *far_driver));
  }
  std::string differences;
  for (const std::string_view what : {"driver_version", "firmware"}) {
    const auto one = look.fact_text(End::sender, fmt::format("if.*.{}", what));
    const auto other = look.fact_text(End::receiver, fmt::format("if.*.{}", what));
    if (one && other && *one != *other) {
      differences +=
          fmt::format("{}{} {} and {}", differences.empty() ? "" : ", ", what, *one, *other);
    }
  }
  if (differences.empty()) {
    return silent(fmt::format("{} alike at both ends", *near_driver));
  }
  return fires(Confidence::possible, 0.2, differences,
               fmt::format("{} differs between {} and {}: {}", *near_driver,
                           look.host_name(End::sender), look.host_name(End::receiver), differences),
               {fmt::format("ethtool -i {}", look.interface(End::sender)),
                "the same driver and firmware at both ends"});
}

Verdict judge_negotiated_speed(Look& look) { return either_end(look, negotiated_speed); }
Verdict judge_half_duplex(Look& look) { return either_end(look, half_duplex); }
Verdict judge_energy_saving(Look& look) { return either_end(look, energy_saving); }
Verdict judge_carrier_history(Look& look) { return either_end(look, carrier_history); }

constexpr std::array kSharedLimit = {Prediction{"more-streams", 0.85, 1.15}};

constexpr Scope kStream = Scope::stream;
constexpr Scope kHosts = Scope::hosts;
constexpr auto kProblem = Severity::problem;
constexpr auto kWarning = Severity::warning;
constexpr auto kInfo = Severity::info;

constexpr std::array kRules = {
    Rule{"link.full", "L01", kStream, Kind::limit, kInfo, judge_link_full, kSharedLimit},
    Rule{"link.full-of-datagrams", "L01", Scope::datagrams, Kind::limit, kInfo, judge_link_full},
    Rule{"link.speed", "L02", kHosts, Kind::defect, kWarning, judge_negotiated_speed},
    Rule{"link.half-duplex", "L03", kHosts, Kind::defect, kProblem, judge_half_duplex},
    Rule{"link.collisions", "L03", kStream, Kind::defect, kProblem, judge_collisions},
    Rule{"link.plane", "L04", kHosts, Kind::defect, kWarning, judge_plane},
    Rule{"link.other-interface", "L04", kStream, Kind::defect, kWarning, judge_other_interface},
    Rule{"link.bit-errors", "L05", kStream, Kind::defect, kProblem, judge_bit_errors},
    Rule{"link.dim-light", "L05", kHosts, Kind::defect, kWarning, judge_dim_light},
    Rule{"link.cable-pair", "L05", kHosts, Kind::defect, kProblem, judge_cable_pair},
    Rule{"link.flaps", "L06", kStream, Kind::defect, kProblem, judge_flaps},
    Rule{"link.carrier-history", "L06", kHosts, Kind::note, kInfo, judge_carrier_history},
    Rule{"link.receive-ring", "L07", kStream, Kind::defect, kWarning, judge_receive_ring},
    Rule{"link.queue-drops", "L08", kStream, Kind::defect, kWarning, judge_queue_drops},
    Rule{"link.pauses", "L09", kStream, Kind::defect, kWarning, judge_pauses},
    Rule{"link.energy-saving", "L10", kHosts, Kind::note, kInfo, judge_energy_saving},
    Rule{"link.energy-steps", "L10", Scope::round_trips, Kind::limit, kWarning, judge_energy_steps},
    Rule{"link.offload-off", "L11", kStream, Kind::limit, kWarning, judge_offload_off},
    Rule{"link.checksum-offload", "L12", kStream, Kind::defect, kProblem, judge_checksum_offload},
    Rule{"link.receive-offload", "L12", kStream, Kind::defect, kProblem, judge_receive_offload},
    Rule{"link.coalescing", "L13", Scope::round_trips, Kind::limit, kInfo, judge_coalescing},
    Rule{"link.fec", "L14", kStream, Kind::defect, kProblem, judge_fec_errors},
    Rule{"link.driver", "L15", kHosts, Kind::note, kInfo, judge_driver_versions},
    Rule{"link.shaper", "L16", kStream, Kind::limit, kWarning, judge_shaper, kSharedLimit},
    Rule{"link.cloud-allowance", "L16", kStream, Kind::limit, kWarning, judge_cloud_allowance,
         kSharedLimit}};

}  // namespace

RuleTable link_rules() { return kRules; }

}  // namespace netbench::report
