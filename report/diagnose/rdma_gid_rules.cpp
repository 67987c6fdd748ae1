#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/diagnose/rdma_judges.hpp"
#include "report/diagnose/rdma_signals.hpp"
#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

namespace {

struct Gid {
  std::string rail;
  std::string index;
  std::string address;
  std::string type;

  [[nodiscard]] bool link_local() const { return address.starts_with("fe80:"); }
  [[nodiscard]] bool ipv4() const { return address.starts_with("::ffff:"); }
};

std::vector<Gid> gids_of(Look& look, End end, const std::string& rail) {
  std::vector<Gid> gids;
  const std::string prefix = fmt::format("rdma.{}.gid.", rail);
  for (const std::string& index : fact_names(look, end, prefix, ".address")) {
    gids.push_back({rail, index,
                    look.fact_text(end, fmt::format("{}{}.address", prefix, index)).value_or(""),
                    look.fact_text(end, fmt::format("{}{}.type", prefix, index)).value_or("")});
  }
  return gids;
}

std::vector<Gid> active_gids(Look& look, End end) {
  std::vector<Gid> all;
  for (const std::string& rail : rails_of(look, end)) {
    if (rail_text(look, end, rail, "state") == "ACTIVE" &&
        rail_text(look, end, rail, "link_layer") == "Ethernet") {
      const auto gids = gids_of(look, end, rail);
      all.insert(all.end(), gids.begin(), gids.end());
    }
  }
  return all;
}

bool fit(const Gid& one, const Gid& other) {
  return one.type == other.type && one.ipv4() == other.ipv4() && !one.link_local() &&
         !other.link_local();
}

std::string table_text(const std::vector<Gid>& gids) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, gids.size()); ++i) {
    text += fmt::format("{}[{}] {} {}", text.empty() ? "" : ", ", gids[i].index, gids[i].address,
                        gids[i].type);
  }
  return gids.size() > kShown ? fmt::format("{} and {} more", text, gids.size() - kShown) : text;
}

/// The /24 of an IPv4 GID, as the subnet that hosts of one rail usually have.
std::string subnet_of(const Gid& gid) { return gid.address.substr(0, gid.address.rfind('.')); }

Verdict subnets_at(Look& look, End end) {
  std::map<std::string, std::vector<std::string>> rails;
  for (const Gid& gid : active_gids(look, end)) {
    if (gid.ipv4()) {
      auto& list = rails[subnet_of(gid)];
      if (std::ranges::find(list, gid.rail) == list.end()) {
        list.push_back(gid.rail);
      }
    }
  }
  const auto shared =
      std::ranges::find_if(rails, [](const auto& entry) { return entry.second.size() > 1; });
  const double ignore = look.fact(end, "sysctl.net.ipv4.conf.all.arp_ignore").value_or(0);
  const double announce = look.fact(end, "sysctl.net.ipv4.conf.all.arp_announce").value_or(0);
  if (rails.empty()) {
    return unknown(fmt::format("{}: no RoCE address was read", look.host_name(end)));
  }
  if (shared == rails.end() || (ignore >= 1 && announce >= 2)) {
    return silent(
        fmt::format("{}: its rails are in different subnets, or answer ARP for themselves",
                    look.host_name(end)));
  }
  const std::string why =
      fmt::format("{}: {} have addresses that begin with {}", look.host_name(end),
                  fmt::join(shared->second, ", "), shared->first.substr(7));
  return milder(fires(Confidence::possible, 0.3, why,
                      "several rails seem to be in one subnet, where the traffic of all may leave "
                      "by one of them: " +
                          why,
                      {"sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 "
                       "net.ipv4.conf.all.rp_filter=2",
                       "a routing rule for each source address (ip rule), or a subnet for each "
                       "rail"}));
}

}  // namespace

Verdict judge_rdma_gid_pair(Look& look) {
  const auto near = active_gids(look, End::sender);
  const auto far = active_gids(look, End::receiver);
  if (near.empty() || far.empty()) {
    return unknown("no GID of an active RoCE port is known at both ends");
  }
  const auto pair = [&](const Gid& one) {
    return std::ranges::any_of(far, [&](const Gid& other) { return fit(one, other); });
  };
  const std::string why =
      fmt::format("{}: {}; {}: {}", look.host_name(End::sender), table_text(near),
                  look.host_name(End::receiver), table_text(far));
  if (std::ranges::any_of(near, pair)) {
    return silent("both ends have routable GIDs of one type and family");
  }
  return unless_wanted(
      look.document(),
      fires(Confidence::likely, 0.9, why,
            "no GIDs of both ends fit together (same type, same family, not link-local): " + why,
            {"give both interfaces an IPv4 address in one subnet: ip address add …",
             "use RoCE v2 at both ends: its GIDs are of type \"RoCE v2\" (rdma_cm: "
             "default_roce_mode)"}));
}

Verdict judge_rdma_one_subnet(Look& look) { return either_end(look, subnets_at); }

}  // namespace netbench::report
