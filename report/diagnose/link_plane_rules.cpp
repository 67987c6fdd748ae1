#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bench/core/units.hpp"
#include "report/diagnose/link_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// What other traffic than the payload's may hide of a wrong interface.
constexpr double kOwnShare = 0.9;
constexpr double kEnoughBytes = 10e6;

/// The fastest other interface with a carrier, beside those that the test's own stands on.
struct Plane {
  std::string device;
  double speed_bps = 0;
};

std::optional<Plane> fastest_other(Look& look, End end) {
  const std::string own = look.interface(end);
  const std::string stack = look.fact_text(end, "if.*.stack").value_or(own);
  std::optional<Plane> fastest;
  for (const std::string& device : fact_names(look, end, "if.", ".speed_bps")) {
    const bool ours = device == own || stack.find(device) != std::string::npos;
    const auto speed = ours ? std::nullopt : look.fact(end, fmt::format("if.{}.speed_bps", device));
    const bool up = !ours && look.fact(end, fmt::format("if.{}.carrier", device)) != 0.0;
    if (speed && up && (!fastest || *speed > fastest->speed_bps)) {
      fastest = Plane{device, *speed};
    }
  }
  return fastest;
}

/// A test over the air beside a wired interface without a carrier.
std::optional<Verdict> fell_over_to_wireless(Look& look, End end) {
  const bool wireless = look.fact(end, "if.*.wireless") == 1.0 ||
                        look.fact_text(end, "if.*.kind").value_or("") == "wlan" ||
                        look.interface(end).starts_with("wl");
  for (const std::string& device : fact_names(look, end, "if.", ".carrier")) {
    if (wireless && device != look.interface(end) && device != "lo" &&
        look.fact(end, fmt::format("if.{}.carrier", device)) == 0.0) {
      return fires(Confidence::likely, 0.9,
                   fmt::format("{} is wireless, {} has no carrier", device_of(look, end), device),
                   fmt::format("the traffic of {} goes over the air ({}): the wired {} has no "
                               "carrier",
                               look.host_name(end), look.interface(end), device),
                   {fmt::format("another cable, switch port or jack for {}", device),
                    fmt::format("ip -br link show {}", device)});
    }
  }
  return std::nullopt;
}

/// A route that leads past the interface in whose subnet the peer is.
std::optional<Verdict> led_past_subnet(Look& look, End end) {
  const auto nearer = look.fact_text(end, "path.subnet_interface");
  const End other = end == End::sender ? End::receiver : End::sender;
  const HostInfo* peer = look.host(other);
  if (!nearer || peer == nullptr || peer->addresses.empty()) {
    return std::nullopt;
  }
  const std::string& address = peer->addresses.front();
  const std::string why = fmt::format(
      "the route of {} to {} leaves by {}, though {} is in the "
      "subnet of {}",
      look.host_name(end), address, look.interface(end), look.host_name(other), *nearer);
  return fires(Confidence::confirmed, 0.95, why, why,
               {fmt::format("on {}: ip route get {}", look.host_name(end), address),
                fmt::format("on {}: ip route del {} dev {}", look.host_name(end), address,
                            look.interface(end))});
}

}  // namespace

Verdict judge_plane(Look& look) {
  for (const End end : kEnds) {
    if (auto verdict = fell_over_to_wireless(look, end)) {
      return *verdict;
    }
    if (auto verdict = led_past_subnet(look, end)) {
      return *verdict;
    }
  }
  const auto near_speed = look.fact(End::sender, "if.*.speed_bps");
  const auto far_speed = look.fact(End::receiver, "if.*.speed_bps");
  const auto near_other = fastest_other(look, End::sender);
  const auto far_other = fastest_other(look, End::receiver);
  if (!near_speed || !far_speed) {
    return unknown("the speed of an end's interface is not known");
  }
  if (!near_other || !far_other) {
    return silent("one end has no other interface with a carrier");
  }
  const double used = std::min(*near_speed, *far_speed);
  const double common = std::min(near_other->speed_bps, far_other->speed_bps);
  const std::string why =
      fmt::format("tested at {}; {} and {} could do {}", format_bits_per_second(used),
                  fmt::format("{}'s {}", look.host_name(End::sender), near_other->device),
                  fmt::format("{}'s {}", look.host_name(End::receiver), far_other->device),
                  format_bits_per_second(common));
  if (common <= used) {
    return silent(why);
  }
  return fires(Confidence::possible, 0.7, why,
               "the test runs over a slower network than both hosts have: " + why,
               {fmt::format("ip -br address show {}   (on {}; give that address to --peer)",
                            far_other->device, look.host_name(End::receiver)),
                fmt::format("ip route get {}", look.host(End::receiver)->addresses.empty()
                                                   ? std::string("PEER")
                                                   : look.host(End::receiver)->addresses.front())});
}

Verdict judge_other_interface(Look& look) {
  const auto payload = look.total(End::receiver, "payload.received_bytes");
  const auto counted = look.total(End::receiver, "if.*.rx_bytes");
  if (!payload || !counted || *payload < kEnoughBytes) {
    return unknown("the receiver's interface counters or payload are not known");
  }
  const std::string why =
      fmt::format("{:.4g} MB of payload, {:.4g} MB received by {}", *payload * 1e-6,
                  *counted * 1e-6, device_of(look, End::receiver));
  if (*counted >= kOwnShare * *payload) {
    return silent(why);
  }
  return fires(
      Confidence::likely, 0.8, why,
      fmt::format("the traffic does not arrive over {}: {}", device_of(look, End::receiver), why),
      {"ip -s link", "ip route get PEER on both hosts; bind the test to the address meant"});
}

}  // namespace netbench::report
