#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/core/units.hpp"
#include "report/bounds/ceiling.hpp"
#include "report/bounds/limit_models.hpp"
#include "report/bounds/pcie.hpp"
#include "report/bounds/rdma_wire.hpp"

namespace netbench::report::limits {

namespace {

/// A slot or bridge, with what its link carries.
struct Slot {
  std::string name;
  std::string end;
  double giga_transfers = 0;
  double lanes = 0;

  [[nodiscard]] double usable_bps() const { return pcie_usable_bps(giga_transfers, lanes); }
};

/// "pcie.0000:3b:00.0" of "pcie.0000:3b:00.0.speed_gts", or nothing.
std::optional<std::string> slot_of(std::string_view key) {
  constexpr std::array<std::string_view, 2> kEndings = {".speed_gts", ".speed_gtps"};
  for (const std::string_view ending : kEndings) {
    const bool slot = key.find("pcie") != std::string_view::npos ||
                      key.find(".bridge.") != std::string_view::npos;
    if (key.ends_with(ending) && slot) {
      return std::string(key.substr(0, key.size() - ending.size()));
    }
  }
  return std::nullopt;
}

/// What a row's facts of slots begin with: those of its rail, or of everything but rails.
bool is_on_the_way(const Measurement& row, const HostInfo& host, bool initiator,
                   std::string_view key) {
  if (row.transport != "verbs") {
    return !key.starts_with("rdma.");
  }
  const auto& tunables = row.tunables;
  const std::string rail =
      rail_in_effect(host, initiator ? tunables.effective_initiator : tunables.effective_responder);
  return !rail.empty() && key.starts_with(fmt::format("rdma.{}.", rail));
}

void add_slots(RowReader& row, Role role, std::vector<Slot>& slots) {
  const HostInfo* host = row.host(role);
  if (host == nullptr) {
    return;
  }
  for (const Fact& fact : host->facts) {
    if (!is_on_the_way(row.row(), *host, row.host_key(role) == "h0", fact.key)) {
      continue;
    }
    const auto name = slot_of(fact.key);
    const auto speed = name ? number_of(fact.value) : std::nullopt;
    if (!speed || *speed <= 0) {
      continue;
    }
    auto lanes = row.fact(role, *name + ".width");
    if (!lanes) {
      lanes = row.fact(role, *name + ".width_lanes");
    }
    if (lanes && *lanes > 0) {
      static_cast<void>(row.fact(role, fact.key));  // cites it
      slots.push_back({*name, row.host_key(role), *speed, *lanes});
    }
  }
}

struct Members {
  double count = 0;
  double fastest_bps = 0;
  std::string end;
};

std::optional<Members> members_of(RowReader& row, Role role) {
  const HostInfo* host = row.host(role);
  Members members;
  for (const Fact& fact : host == nullptr ? std::vector<Fact>{} : host->facts) {
    const bool member = fact.key.starts_with("bond.") && fact.key.ends_with(".speed_bps");
    const auto speed = member ? row.fact(role, fact.key) : std::nullopt;
    if (speed && *speed > 0) {
      members.count += 1;
      members.fastest_bps = std::max(members.fastest_bps, *speed);
    }
  }
  members.end = row.host_key(role);
  return members.count > 0 ? std::optional(members) : std::nullopt;
}

/// The tighter of both ends' bonds for this many flows.
std::optional<Members> tightest_bond(RowReader& row) {
  const auto carries = [&](const Members& one) {
    return one.fastest_bps * std::min(one.count, row.streams());
  };
  std::optional<Members> found;
  for (const Role role : {Role::sender, Role::receiver}) {
    const auto members = members_of(row, role);
    if (members && (!found || carries(*members) < carries(*found))) {
      found = members;
    }
  }
  return found;
}

}  // namespace

Limit not_known(const std::string& why) {
  return {std::nullopt, fmt::format("unknown, because {}", why)};
}

Limit wire(RowReader& row) {
  const Summary& summary = row.row().summary;
  if (summary.ceiling_bps) {
    return {summary.ceiling_bps, summary.ceiling_note};
  }
  const HostInfo* sender = row.host(Role::sender);
  const HostInfo* receiver = row.host(Role::receiver);
  if (sender == nullptr || receiver == nullptr) {
    return summary.ceiling_note.empty() ? not_known("the hosts are not described")
                                        : Limit{std::nullopt, summary.ceiling_note};
  }
  const Ceiling ceiling = wire_ceiling(row.row(), *sender, *receiver);
  return {ceiling.goodput_bps, ceiling.note};
}

Limit pcie(RowReader& row) {
  std::vector<Slot> slots;
  add_slots(row, Role::sender, slots);
  add_slots(row, Role::receiver, slots);
  const auto narrowest = std::ranges::min_element(slots, {}, &Slot::usable_bps);
  if (narrowest == slots.end()) {
    return not_known("no PCIe link of either host was read");
  }
  return {narrowest->usable_bps(),
          fmt::format("{}: {:g} GT/s x {:g} lanes x {:.3f} encoding x {:g} B / {:g} B a packet",
                      narrowest->name, narrowest->giga_transfers, narrowest->lanes,
                      pcie_encoding(narrowest->giga_transfers), kPciePacketPayloadBytes,
                      kPciePacketPayloadBytes + kPciePacketOverheadBytes),
          narrowest->end};
}

Limit bond_member(RowReader& row) {
  const auto members = tightest_bond(row);
  if (!members) {
    return not_known("neither end has a bond with members of a known speed");
  }
  const double flows = std::min(members->count, row.streams());
  const HostInfo* sender = row.host(Role::sender);
  const HostInfo* receiver = row.host(Role::receiver);
  const Ceiling one = wire_ceiling(row.row(), sender == nullptr ? HostInfo{} : *sender,
                                   receiver == nullptr ? HostInfo{} : *receiver,
                                   {.link_rate_bps = members->fastest_bps});
  const double share_bps = one.goodput_bps.value_or(members->fastest_bps);
  return {share_bps * flows,
          fmt::format("{:g} of {:g} members for {:g} flows, {} each", flows, members->count,
                      row.streams(),
                      one.goodput_bps ? one.note : format_bits_per_second(members->fastest_bps)),
          members->end};
}

}  // namespace netbench::report::limits
