#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

/// One member that carries that much of several flows' bytes.
constexpr double kOneMember = 0.90;
constexpr double kSeveralFlows = 4;
/// Goodput over one member's, from which the member is the limit.
constexpr double kMemberFull = 0.90;
/// Reordered segments of those sent, above what other causes make.
constexpr double kReordered = 1e-3;
/// Before path.remote-bottleneck: the queue of the one member that carries all (measured: 0.95).
constexpr double kBeforeItsQueue = 0.97;
/// Before path.reordering (0.9), which is what this does.
constexpr double kBeforeReordering = 0.95;

std::vector<std::string> bonds_of(const Look& look, End end) {
  return fact_names(look, end, "bond.", ".mode");
}

std::vector<std::string> members_of(const Look& look, End end, const std::string& bond) {
  return fact_names(look, end, fmt::format("bond.{}.", bond), ".mii_up");
}

std::string member_key(const std::string& bond, const std::string& member, const char* what) {
  return fmt::format("bond.{}.{}.{}", bond, member, what);
}

using JudgeBond = Verdict (*)(Look&, End, const std::string& bond);

/// Judges every bond of both ends; hosts without one are silent where their devices were read.
Verdict each_bond(Look& look, JudgeBond judge) {
  std::vector<Verdict> verdicts;
  for (const End end : kEnds) {
    const auto bonds = bonds_of(look, end);
    for (const std::string& bond : bonds) {
      verdicts.push_back(judge(look, end, bond));
    }
    if (bonds.empty() && look.fact_text(end, "if.*.kind")) {
      verdicts.push_back(silent(fmt::format("{}: no bond", look.host_name(end))));
    } else if (bonds.empty()) {
      verdicts.push_back(unknown(fmt::format("{}: bonds not read", look.host_name(end))));
    }
  }
  return nearest_of(verdicts, {});
}

std::string hash_remedy(const std::string& bond) {
  return fmt::format(
      "ip link set dev {} type bond xmit_hash_policy layer3+4   (and the same on the "
      "switch, which chooses for the way back)",
      bond);
}

/// The share of a bond's bytes that its busiest member carried in the row.
std::optional<double> busiest_share(Look& look, End end, const std::vector<std::string>& members) {
  const char* way = end == End::sender ? "tx_bytes" : "rx_bytes";
  double sum = 0;
  double most = 0;
  for (const std::string& member : members) {
    const auto bytes = look.total(end, fmt::format("if.{}.{}", member, way));
    if (!bytes) {
      return std::nullopt;
    }
    sum += *bytes;
    most = std::max(most, *bytes);
  }
  return sum > 0 ? std::optional(most / sum) : std::nullopt;
}

Verdict hash_at(Look& look, End end, const std::string& bond) {
  const auto members = members_of(look, end, bond);
  const double flows = look.setting(end, "tcp.streams").value_or(1);
  const std::string where = fmt::format("{} of {}: {} members, {:.0f} flows", bond,
                                        look.host_name(end), members.size(), flows);
  if (members.size() < 2) {
    return silent(where);
  }
  const auto near = look.nearness("bond-member");
  const auto share = busiest_share(look, end, members);
  if (flows >= kSeveralFlows && share && *share > kOneMember) {
    const std::string why = fmt::format("{}, {:.0f} % of the bytes on one", where, 100 * *share);
    return fires(Confidence::likely, kBeforeItsQueue, why,
                 "the bond's hash puts all flows on one member: " + why, {hash_remedy(bond)});
  }
  if (flows < kSeveralFlows && near && *near >= kMemberFull) {
    const std::string why =
        fmt::format("{}, {:.0f} % of what those members carry", where, 100 * *near);
    return fires(Confidence::likely, std::min(1.0, *near), why,
                 "a flow rides on one member of a bond, and that member is full: " + why,
                 {"netbench pair --tcp.streams 4,16", hash_remedy(bond)});
  }
  return near || share ? silent(where + ": no member is full")
                       : unknown(where + ": bytes and speed of the members not known");
}

Verdict members_down(Look& look, End end, const std::string& bond) {
  std::string down;
  const auto members = members_of(look, end, bond);
  for (const std::string& member : members) {
    if (look.fact(end, member_key(bond, member, "mii_up")) == 0.0) {
      down += (down.empty() ? "" : " and ") + member;
    }
  }
  const std::string where = fmt::format("{} of {}", bond, look.host_name(end));
  if (members.empty()) {
    return unknown(where + ": members not read");
  }
  if (down.empty()) {
    return silent(fmt::format("{}: {} members up", where, members.size()));
  }
  return fires(Confidence::confirmed, 0.9, fmt::format("{}: {} down", where, down),
               fmt::format("{} has lost {} of {} members: {} is down", where,
                           std::ranges::count(down, ' ') / 2 + 1, members.size(), down),
               {fmt::format("on {}: cat /proc/net/bonding/{}", look.host_name(end), bond),
                fmt::format("ip -br link show {}; then cable, module and switch port of {}",
                            down.substr(0, down.find(' ')), down)});
}

/// Values of one fact over the members of a bond.
std::set<double> values_of(Look& look, End end, const std::string& bond, const char* what) {
  std::set<double> values;
  for (const std::string& member : members_of(look, end, bond)) {
    if (const auto value = look.fact(end, member_key(bond, member, what))) {
      values.insert(*value);
    }
  }
  return values;
}

Verdict members_differ(Look& look, End end, const std::string& bond) {
  const auto speeds = values_of(look, end, bond, "speed_bps");
  const auto groups = values_of(look, end, bond, "aggregator_id");
  const std::string why = fmt::format("{} of {}: {} different speeds, {} aggregators", bond,
                                      look.host_name(end), speeds.size(), groups.size());
  if (speeds.empty() && groups.empty()) {
    return unknown(why);
  }
  if (speeds.size() <= 1 && groups.size() <= 1) {
    return silent(why);
  }
  return fires(Confidence::confirmed, 0.8, why,
               "members of a bond do not work together, so that some carry nothing: " + why,
               {fmt::format("on {}: cat /proc/net/bonding/{}", look.host_name(end), bond),
                "one speed for all members, and LACP on all their switch ports in one group"});
}

bool is_lacp(const std::string& mode) {
  return mode.find("802.3ad") != std::string::npos || mode == "4";
}

Verdict partner_missing(Look& look, End end, const std::string& bond) {
  const auto mode = look.fact_text(end, fmt::format("bond.{}.mode", bond)).value_or("");
  const std::string where = fmt::format("{} of {}: mode {}", bond, look.host_name(end), mode);
  if (!is_lacp(mode)) {
    return silent(where);
  }
  const auto partner = look.fact_text(end, fmt::format("bond.{}.partner_mac", bond));
  if (!partner) {
    return unknown(where + ", LACP partner not read");
  }
  const std::string why = fmt::format("{}, LACP partner {}", where, *partner);
  if (*partner != "00:00:00:00:00:00") {
    return silent(why);
  }
  return fires(Confidence::confirmed, 0.9, why,
               "nobody answers LACP at the other side of a bond, so one member carries all: " + why,
               {"configure these switch ports as one LACP group",
                fmt::format("on {}: cat /proc/net/bonding/{}", look.host_name(end), bond)});
}

Verdict round_robin(Look& look, End end, const std::string& bond) {
  const auto mode = look.fact_text(end, fmt::format("bond.{}.mode", bond)).value_or("");
  const std::string where = fmt::format("{} of {}: mode {}", bond, look.host_name(end), mode);
  if (mode.find("balance-rr") == std::string::npos && mode != "0") {
    return silent(where);
  }
  const auto share = look.ratio(End::sender, "tcp_info.reord_seen", "tcp_info.data_segs_out");
  if (!share) {
    return unknown(where + ", reordering not counted");
  }
  const std::string why = fmt::format("{}, {:.2g} % of segments reordered", where, 100 * *share);
  if (*share <= kReordered) {
    return silent(why);
  }
  return fires(
      Confidence::likely, kBeforeReordering, why,
      "a bond deals the packets of one flow over its members in turn, which reorders them: " + why,
      {fmt::format("ip link set dev {} type bond mode 802.3ad   (and LACP on the switch)", bond)});
}

Verdict judge_hash(Look& look) { return each_bond(look, hash_at); }
Verdict judge_members_down(Look& look) { return each_bond(look, members_down); }
Verdict judge_members_differ(Look& look) { return each_bond(look, members_differ); }
Verdict judge_partner(Look& look) { return each_bond(look, partner_missing); }
Verdict judge_round_robin(Look& look) { return each_bond(look, round_robin); }

constexpr std::array kRules = {
    Rule{"bond.hash", "B01", Scope::stream, Kind::limit, Severity::warning, judge_hash},
    Rule{"bond.member-down", "B02", Scope::hosts, Kind::defect, Severity::problem,
         judge_members_down},
    Rule{"bond.members-differ", "B03", Scope::hosts, Kind::defect, Severity::warning,
         judge_members_differ},
    Rule{"bond.no-partner", "B04", Scope::hosts, Kind::defect, Severity::problem, judge_partner},
    Rule{"bond.reorders", "B05", Scope::stream, Kind::defect, Severity::warning,
         judge_round_robin}};

}  // namespace

RuleTable bond_rules() { return kRules; }

}  // namespace netbench::report
