#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/core/units.hpp"
#include "report/bounds/pcie.hpp"
#include "report/diagnose/bus_judges.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// Nearer than this to the slot's bandwidth, and the slot is the limit.
constexpr double kSlotFull = 0.80;
/// From this rate on the size of a slot's packets costs.
constexpr double kFastLink_bps = 100e9;
constexpr double kSmallPayload_bytes = 256;
constexpr double kSmallRead_bytes = 512;

/// One link of PCI Express as it runs and as it could: of a card, or of a bridge above one.
struct Slot {
  std::string name;
  std::optional<double> gtps, max_gtps, lanes, max_lanes;
  double wanted_bps = 0;  // link rates of the ports of one card; 0: not known
};

/// "0000:05:00" of "0000:05:00.1": the ports of a card are functions of one device.
std::string card_of(Look& look, End end, const std::string& device) {
  const auto address = look.fact_text(end, fmt::format("if.{}.pcie.address", device));
  return address ? address->substr(0, address->rfind('.')) : device;
}

std::vector<Slot> cards_of(Look& look, End end) {
  std::map<std::string, Slot> cards;
  for (const std::string& device : fact_names(look, end, "if.", ".pcie.speed_gtps")) {
    const auto number = [&](const char* what) {
      return look.fact(end, fmt::format("if.{}.{}", device, what));
    };
    auto [card, is_new] = cards.try_emplace(card_of(look, end, device));
    Slot& slot = card->second;
    slot.wanted_bps += number("speed_bps").value_or(0);
    slot.name = is_new ? fmt::format("{}'s {}", look.host_name(end), device)
                       : fmt::format("{} and {}", slot.name, device);
    slot.gtps = number("pcie.speed_gtps");
    slot.max_gtps = number("pcie.max_speed_gtps");
    slot.lanes = number("pcie.width_lanes");
    slot.max_lanes = number("pcie.max_width_lanes");
  }
  std::vector<Slot> slots;
  for (auto& [address, slot] : cards) {
    slots.push_back(std::move(slot));
  }
  return slots;
}

std::vector<Slot> slots_of(Look& look, End end) {
  std::vector<Slot> slots = cards_of(look, end);
  double largest = 0;
  for (const Slot& card : slots) {
    largest = std::max(largest, card.wanted_bps);
  }
  for (const std::string& bdf : fact_names(look, end, "pcie.", ".speed_gts")) {
    const auto number = [&](const char* what) {
      return look.fact(end, fmt::format("pcie.{}.{}", bdf, what));
    };
    slots.push_back({fmt::format("bridge {} of {}", bdf, look.host_name(end)), number("speed_gts"),
                     number("max_speed_gts"), number("width"), number("max_width"), largest});
  }
  std::erase_if(slots, [](const Slot& slot) { return !slot.gtps || !slot.lanes; });
  return slots;
}

std::string text_of(const Slot& slot) {
  std::string text = fmt::format("{}: {:g} GT/s x{:.0f}", slot.name, *slot.gtps, *slot.lanes);
  if (slot.max_gtps && slot.max_lanes) {
    text += fmt::format(" of {:g} GT/s x{:.0f}", *slot.max_gtps, *slot.max_lanes);
  }
  return text;
}

bool is_degraded(const Slot& slot) {
  return *slot.gtps < slot.max_gtps.value_or(0) || *slot.lanes < slot.max_lanes.value_or(0);
}

std::vector<std::string> better_slot(const Look& look, End end) {
  return {fmt::format("on {}: lspci -vv | grep -E 'LnkCap|LnkSta'", look.host_name(end)),
          "reseat the card; another slot; the slot's width and bifurcation in the BIOS"};
}

Verdict narrow_slot(Look& look, End end) {
  std::vector<Verdict> verdicts;
  for (const Slot& slot : slots_of(look, end)) {
    const double usable = pcie_usable_bps(*slot.gtps, *slot.lanes);
    const std::string why =
        fmt::format("{}, {} usable for links of {}", text_of(slot), format_bits_per_second(usable),
                    format_bits_per_second(slot.wanted_bps));
    if (slot.wanted_bps <= 0) {
      verdicts.push_back(unknown(text_of(slot) + "; link rate not known"));
    } else if (usable >= slot.wanted_bps) {
      verdicts.push_back(silent(why));
    } else {
      verdicts.push_back(fires(is_degraded(slot) ? Confidence::likely : Confidence::possible,
                               1 - usable / slot.wanted_bps, why,
                               "a slot carries less than the card's links: " + why,
                               better_slot(look, end)));
    }
  }
  return nearest_of(verdicts, fmt::format("{}: slot not read", device_of(look, end)));
}

Verdict degraded_slot(Look& look, End end) {
  const auto slots = slots_of(look, end);
  if (slots.empty()) {
    return unknown(fmt::format("{}: slot not read", device_of(look, end)));
  }
  const auto degraded = std::ranges::find_if(slots, is_degraded);
  if (degraded == slots.end()) {
    return silent(text_of(slots.front()));
  }
  return fires(Confidence::possible, 0.2, text_of(*degraded),
               "a PCI Express link runs below what it can: " + text_of(*degraded),
               better_slot(look, end));
}

Verdict small_payload(Look& look, End end) {
  const auto payload = look.fact(end, "if.*.pcie.max_payload_bytes");
  const auto read = look.fact(end, "if.*.pcie.max_read_request_bytes");
  const auto speed = look.fact(end, "if.*.speed_bps");
  if (!speed || (!payload && !read)) {
    return unknown(fmt::format("{}: payload sizes of the slot not known", device_of(look, end)));
  }
  const std::string why = fmt::format("{}: payload {}, read request {}", device_of(look, end),
                                      payload ? fmt::format("{:.0f} B", *payload) : "unknown",
                                      read ? fmt::format("{:.0f} B", *read) : "unknown");
  const bool small = payload.value_or(kSmallPayload_bytes) < kSmallPayload_bytes ||
                     read.value_or(kSmallRead_bytes) < kSmallRead_bytes;
  if (!small || *speed < kFastLink_bps) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.4, why, "the slot moves small packets, which costs bandwidth: " + why,
      {fmt::format("on {}: lspci -vv | grep -E 'MaxPayload|MaxReadReq'", look.host_name(end)),
       "MaxPayload in the BIOS"});
}

/// What the interfaces below one bridge want of it together.
struct Uplink {
  double wanted_bps = 0;
  std::vector<std::string> devices;
  std::set<std::string> cards;
};

/// The bridges on the way to every interface whose place is known ("root > bridge > card").
std::map<std::string, Uplink> uplinks_of(Look& look, End end) {
  std::map<std::string, Uplink> uplinks;
  for (const std::string& device : fact_names(look, end, "if.", ".pcie.path")) {
    std::string path = look.fact_text(end, fmt::format("if.{}.pcie.path", device)).value_or("");
    const auto speed = look.fact(end, fmt::format("if.{}.speed_bps", device));
    for (auto at = path.rfind(" > "); speed && at != std::string::npos; at = path.rfind(" > ")) {
      path.resize(at);
      const auto before = path.rfind("> ");
      Uplink& uplink = uplinks[before == std::string::npos ? path : path.substr(before + 2)];
      uplink.wanted_bps += *speed;
      uplink.devices.push_back(device);
      uplink.cards.insert(card_of(look, end, device));
    }
  }
  return uplinks;
}

/// Devices beside the interfaces that hang below the bridge: it limits where all are busy at once,
/// which a test of the network alone does not show.
std::optional<Verdict> beside_others(Look& look, End end, const std::string& bridge, double usable,
                                     const Uplink& uplink) {
  const auto others = look.fact_text(end, fmt::format("pcie.{}.others", bridge));
  const auto raw = look.fact(end, fmt::format("pcie.{}.others_raw_bps", bridge));
  if (!others || !raw || *raw <= 0 || uplink.wanted_bps + *raw <= usable) {
    return std::nullopt;
  }
  const std::string why =
      fmt::format("{} of {} shares bridge {} ({} usable) with {}: {} and up to {} wanted",
                  fmt::join(uplink.devices, " and "), look.host_name(end), bridge,
                  format_bits_per_second(usable), *others,
                  format_bits_per_second(uplink.wanted_bps), format_bits_per_second(*raw));
  return milder(
      fires(Confidence::possible, 0.2, why,
            "a PCI Express uplink is too narrow for all that hangs below it at once: " + why,
            {"run the test while the other devices are busy too",
             "put the cards below different root ports"}));
}

std::optional<Verdict> uplink_verdict(Look& look, End end, const std::string& bridge,
                                      const Uplink& uplink) {
  const auto gtps = look.fact(end, fmt::format("pcie.{}.speed_gts", bridge));
  const auto lanes = look.fact(end, fmt::format("pcie.{}.width", bridge));
  if (!gtps || !lanes) {
    return std::nullopt;
  }
  const double usable = pcie_usable_bps(*gtps, *lanes);
  const std::string why =
      fmt::format("{} of {} hang below bridge {}: {} wanted, {} usable",
                  fmt::join(uplink.devices, " and "), look.host_name(end), bridge,
                  format_bits_per_second(uplink.wanted_bps), format_bits_per_second(usable));
  if (uplink.cards.size() < 2 || usable >= uplink.wanted_bps) {
    return beside_others(look, end, bridge, usable, uplink).value_or(silent(why));
  }
  return fires(Confidence::likely, 1 - usable / uplink.wanted_bps, why,
               "interfaces share a PCI Express uplink that is too narrow: " + why,
               {"put the cards below different root ports"});
}

Verdict shared_uplink(Look& look, End end) {
  std::vector<Verdict> verdicts;
  for (const auto& [bridge, uplink] : uplinks_of(look, end)) {
    if (auto verdict = uplink_verdict(look, end, bridge, uplink)) {
      verdicts.push_back(std::move(*verdict));
    }
  }
  return nearest_of(verdicts,
                    fmt::format("{}: bridges above the cards not read", look.host_name(end)));
}

}  // namespace

Verdict judge_slot_full(Look& look) {
  const Bound* slot = look.bound("pcie");
  if (slot == nullptr) {
    return unknown("the slot's bandwidth is not known");
  }
  const std::string why =
      fmt::format("{:.0f} % of the slot: {}", 100 * slot->nearness, slot->arithmetic);
  if (slot->nearness < kSlotFull || look.nearness("wire").value_or(0) > slot->nearness) {
    return silent(why);
  }
  return fires(Confidence::likely, std::min(1.0, slot->nearness), why,
               "the slot of a card is full: " + why,
               better_slot(look, slot->end == "h1" ? End::receiver : End::sender));
}

Verdict judge_narrow_slot(Look& look) { return either_end(look, narrow_slot); }
Verdict judge_degraded_slot(Look& look) { return either_end(look, degraded_slot); }
Verdict judge_payload(Look& look) { return either_end(look, small_payload); }
Verdict judge_shared_uplink(Look& look) { return either_end(look, shared_uplink); }

}  // namespace netbench::report
