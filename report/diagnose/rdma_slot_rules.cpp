#include <fmt/format.h>

#include <algorithm>

#include "bench/core/units.hpp"
#include "report/bounds/pcie.hpp"
#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// As for network cards: nearer than this to the slot's bandwidth, and the slot is the limit.
constexpr double kSlotFull = 0.80;
constexpr double kFastLink_bps = 100e9;

struct Slot {
  std::string name;
  std::optional<double> gtps, max_gtps, lanes, max_lanes;

  [[nodiscard]] bool known() const { return gtps && lanes; }
  [[nodiscard]] bool degraded() const {
    return *gtps < max_gtps.value_or(0) || *lanes < max_lanes.value_or(0);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format(
        "{}: {:g} GT/s x{:.0f}{}", name, *gtps, *lanes,
        max_gtps && max_lanes ? fmt::format(" of {:g} GT/s x{:.0f}", *max_gtps, *max_lanes) : "");
  }
};

/// Of a rail whose card is the test's network interface too, the rules of buses speak.
bool is_judged_elsewhere(Look& look, End end, const std::string& rail) {
  const auto interface = rail_text(look, end, rail, "interface");
  return interface && look.fact(end, fmt::format("if.{}.pcie.speed_gtps", *interface)).has_value();
}

std::vector<Slot> slots_of(Look& look, End end, const std::string& rail) {
  const auto number = [&](const std::string& name) { return rail_fact(look, end, rail, name); };
  std::vector<Slot> slots{{rail_name(look, end, rail), number("pcie.speed_gtps"),
                           number("pcie.max_speed_gtps"), number("pcie.width_lanes"),
                           number("pcie.max_width_lanes")}};
  const std::string bridges = fmt::format("rdma.{}.bridge.", rail);
  for (const std::string& bdf : fact_names(look, end, bridges, ".speed_gts")) {
    const auto of = [&](const char* what) {
      return number(fmt::format("bridge.{}.{}", bdf, what));
    };
    slots.push_back({fmt::format("bridge {} of {}", bdf, look.host_name(end)), of("speed_gts"),
                     of("max_speed_gts"), of("width"), of("max_width")});
  }
  std::erase_if(slots, [](const Slot& slot) { return !slot.known(); });
  return slots;
}

std::vector<std::string> slot_remedy(const Look& look, End end) {
  return {fmt::format("on {}: lspci -vv | grep -E 'LnkCap|LnkSta'", look.host_name(end)),
          "reseat the card; another slot; the slot's width and bifurcation in the BIOS"};
}

Verdict degraded_of(Look& look, End end, const std::string& rail) {
  const auto slots = slots_of(look, end, rail);
  if (slots.empty() || is_judged_elsewhere(look, end, rail)) {
    return slots.empty() ? unknown(rail_name(look, end, rail) + ": slot not read")
                         : silent("judged with its network interface");
  }
  const auto slot = std::ranges::find_if(slots, &Slot::degraded);
  if (slot == slots.end()) {
    return silent(slots.front().text());
  }
  return unless_wanted(look.document(),
                       fires(Confidence::likely, 0.7, slot->text(),
                             "a PCIe link of an RDMA card runs below what it can: " + slot->text(),
                             slot_remedy(look, end)));
}

Verdict narrow_of(Look& look, End end, const std::string& rail) {
  const auto rate = rail_fact(look, end, rail, "rate_bps");
  auto slots = slots_of(look, end, rail);
  if (slots.empty() || !rate || is_judged_elsewhere(look, end, rail)) {
    return !slots.empty() && rate ? silent("judged with its network interface")
                                  : unknown(rail_name(look, end, rail) + ": slot or rate not read");
  }
  const auto usable = [](const Slot& slot) { return pcie_usable_bps(*slot.gtps, *slot.lanes); };
  const Slot slot = *std::ranges::min_element(slots, {}, usable);
  const std::string why =
      fmt::format("{}, {} usable for a link of {}", slot.text(),
                  format_bits_per_second(usable(slot)), format_bits_per_second(*rate));
  if (usable(slot) >= *rate) {
    return silent(why);
  }
  return unless_wanted(
      look.document(),
      fires(slot.degraded() ? Confidence::likely : Confidence::possible, 1 - usable(slot) / *rate,
            why, "a slot carries less than the RDMA card's link: " + why, slot_remedy(look, end)));
}

Verdict iommu_of(Look& look, End end, const std::string& rail) {
  const auto type = rail_text(look, end, rail, "iommu_group_type");
  const auto rate = rail_fact(look, end, rail, "rate_bps");
  const std::string name = rail_name(look, end, rail);
  if (!type || !rate) {
    return unknown(name + ": IOMMU or rate not read");
  }
  const std::string why =
      fmt::format("{}: IOMMU {}, {}", name, *type, format_bits_per_second(*rate));
  if (!type->starts_with("DMA") || *rate < kFastLink_bps || is_judged_elsewhere(look, end, rail)) {
    return silent(why);
  }
  return milder(fires(Confidence::possible, 0.4, why,
                      "an IOMMU translates every access of a fast RDMA card: " + why,
                      {"iommu=pt on the kernel's command line (bare metal), then reboot"}));
}

Verdict far_node_at(Look& look, End end) {
  const std::string rail = rail_of(look, end);
  const auto card = rail_fact(look, end, rail, "numa_node");
  const auto threads = look.setting(end, "verbs.numa");
  if (!card || !threads) {
    return unknown(rail_name(look, end, rail) +
                   ": the node of the card or of the threads is not "
                   "known");
  }
  const std::string why =
      fmt::format("{} is on node {:.0f}, its threads and buffers on node {:.0f}",
                  rail_name(look, end, rail), *card, *threads);
  if (*card == *threads) {
    return silent(why);
  }
  return fires(
      Confidence::possible, 0.7, why,
      "the buffers and threads of an RDMA card are on another node: " + why,
      {fmt::format("--verbs.numa {:.0f}, or numactl -N {:.0f} -m {:.0f}", *card, *card, *card)});
}

}  // namespace

Verdict judge_rdma_slot_degraded(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, degraded_of); });
}

Verdict judge_rdma_slot_narrow(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, narrow_of); });
}

Verdict judge_rdma_iommu(Look& look) {
  return either_end(look, [](Look& at, End end) { return over_rails(at, end, iommu_of); });
}

Verdict judge_rdma_slot_full(Look& look) {
  const Bound* slot = look.bound("pcie");
  if (slot == nullptr || is_software(look)) {
    return unknown(slot == nullptr ? "no slot of the row's rails was read" : "software RDMA");
  }
  const std::string why = fmt::format("{:.0f} % of {}", 100 * slot->nearness, slot->arithmetic);
  if (slot->nearness < kSlotFull || slot->nearness <= look.nearness("wire").value_or(0)) {
    return silent(why);
  }
  return fires(Confidence::likely, std::min(1.0, slot->nearness), why,
               "the slot of an RDMA card, or a bridge above it, is full: " + why,
               {"lspci -vv | grep -E 'LnkCap|LnkSta'; a wider or newer slot"});
}

Verdict judge_rdma_far_node(Look& look) { return either_end(look, far_node_at); }

}  // namespace netbench::report
