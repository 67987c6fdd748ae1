#include "bench/cli/connect_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>

#include "bench/facts/addresses.hpp"
#include "bench/facts/arp_probe.hpp"
#include "bench/facts/host_facts.hpp"
#include "bench/session/ping.hpp"

namespace netbench::cli {

namespace {

constexpr auto kPingLimit = std::chrono::seconds(1);
constexpr auto kArpLimit = std::chrono::milliseconds(300);

constexpr std::array<std::string_view, 11> kTelling = {
    "snmp.Tcp.AttemptFails",    "snmp.Tcp.OutRsts",          "snmp.Ip.OutNoRoutes",
    "snmp.Icmp.InDestUnreachs", "snmp.Icmp.OutDestUnreachs", "netstat.TCPSynRetrans",
    "netstat.TCPRetransFail",   "netstat.TCPTimeouts",       "netstat.IPReversePathFilter",
    "netstat.ListenOverflows",  "netstat.ListenDrops"};

std::string name_of(session::NeighbourState state) {
  switch (state) {
    case session::NeighbourState::absent:
      return "absent";
    case session::NeighbourState::reachable:
      return "reachable";
    case session::NeighbourState::unanswered:
      return "unanswered";
    case session::NeighbourState::unknown:
      break;
  }
  return "unknown";
}

bool had_no_way(const ValueMap& seen) {
  const auto found = seen.find("connect.errno");
  return found != seen.end() && found->second == Value(std::int64_t{ENETUNREACH});
}

// The interface in whose subnet the address lies. Of one that is down there is no route to say so.
std::string interface_beside(const std::string& address) {
  const auto peer = facts::parse_ip(address);
  const auto network = facts::open_kernel_network();
  const auto own =
      network ? (*network)->addresses()
              : Result<std::vector<facts::InterfaceAddress>>(tl::unexpected(network.error()));
  const auto links = own ? (*network)->links() : Result<std::vector<facts::LinkInfo>>({});
  if (!peer || !own || !links) {
    return {};
  }
  const auto beside = std::ranges::find_if(*own, [&](const facts::InterfaceAddress& one) {
    const auto parsed = facts::parse_ip(one.address);
    return parsed && facts::in_prefix(*peer, *parsed, one.prefix_length);
  });
  const auto link = beside == own->end() ? links->end()
                                         : std::ranges::find(*links, beside->interface_index,
                                                             &facts::LinkInfo::index);
  return link == links->end() ? std::string{} : link->name;
}

/// The hardware address that the neighbour table has for an address, "" where none.
std::string known_owner(facts::NetworkReader& network, const std::string& address) {
  const auto table = network.neighbours();
  const auto found = table ? std::ranges::find(*table, address, &facts::NeighbourInfo::address)
                           : decltype(table->end()){};
  return !table || found == table->end() ? std::string{} : found->hardware_address;
}

std::string text_of(const ValueMap& seen, const char* key) {
  const auto found = seen.find(key);
  const auto* text = found == seen.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

HostInfo facts_towards(const std::string& address) {
  facts::CollectOptions options;
  options.peer_address = address;
  HostInfo host = facts::collect_host(options);
  if (host.interface.empty() && !address.empty()) {
    options.interface = interface_beside(address);
    return options.interface.empty() ? host : facts::collect_host(options);
  }
  return host;
}

}  // namespace

ConnectWatch::ConnectWatch() : before_(facts::take_snapshot({})) {}

void ConnectWatch::note(const session::SocketAddress& to, const session::ConnectFailure& failure) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  if (!seen_.empty() && !had_no_way(seen_)) {
    return;
  }
  seen_ = {{"connect.address", to.host()},
           {"connect.port", std::int64_t{to.port()}},
           {"connect.errno", std::int64_t{failure.sys_errno}},
           {"connect.elapsed_ms", duration_cast<milliseconds>(failure.elapsed).count()},
           {"connect.neighbour_state", name_of(failure.neighbour.state)},
           {"connect.gateway", failure.neighbour.gateway},
           {"connect.syn_retransmits", std::int64_t{failure.syn_retransmits}}};
  if (failure.local.size > 0) {
    seen_["connect.local_address"] = failure.local.host();
  }
  // An answer tells a port that is dropped from a path that does not lead back.
  if (failure.sys_errno == ETIMEDOUT) {
    if (const auto answered = session::answers_ping(to, kPingLimit)) {
      seen_["connect.ping_answered"] = *answered;
    }
  }
  if (failure.icmp) {
    seen_["connect.icmp_type"] = std::int64_t{failure.icmp->type};
    seen_["connect.icmp_code"] = std::int64_t{failure.icmp->code};
    seen_["connect.icmp_from"] = failure.icmp->from.host();
  }
  note_owners(to);
}

// Only a peer on this link answers for itself; a router answers for all beyond it.
void ConnectWatch::note_owners(const session::SocketAddress& to) {
  const auto network = facts::open_kernel_network();
  const auto route = network ? (*network)->route_to(to.host(), {})
                             : Result<facts::RouteInfo>(tl::unexpected(network.error()));
  if (!route || !route->gateway.empty() || route->interface == "lo") {
    return;
  }
  if (auto owner = known_owner(**network, to.host()); !owner.empty()) {
    owners_.insert(std::move(owner));
  }
  const auto answers =
      facts::arp_owners(route->interface, route->source_address, to.host(), kArpLimit);
  if (answers) {
    owners_.insert(answers->begin(), answers->end());
  }
  if (answers || owners_.size() > 1) {
    seen_["connect.neighbour_macs"] = static_cast<std::int64_t>(owners_.size());
  }
}

void ConnectWatch::note_witness(const session::WitnessReply& before,
                                const session::WitnessReply& after) {
  seen_["connect.peer_listens_on"] = after.listens_on;
  seen_["connect.peer_way_back"] = after.way_back;
  seen_["connect.peer_out_rsts"] = after.out_rsts - before.out_rsts;
  seen_["connect.peer_listen_overflows"] = after.listen_overflows - before.listen_overflows;
  seen_["connect.peer_reverse_path_drops"] = after.reverse_path_drops - before.reverse_path_drops;
}

std::string ConnectWatch::tried_address() const { return text_of(seen_, "connect.address"); }
std::string ConnectWatch::tried_from() const { return text_of(seen_, "connect.local_address"); }

void ConnectWatch::record(Document& document) const {
  document.config.insert(seen_.begin(), seen_.end());
  for (const auto& [key, value] : facts::delta(before_, facts::take_snapshot({})).counters) {
    if (std::ranges::find(kTelling, key) != kTelling.end()) {
      document.config["connect." + key] = static_cast<std::int64_t>(value);
    }
  }
  HostInfo& local = document.hosts["h0"];
  if (local.facts.empty()) {
    const auto address = seen_.find("connect.address");
    local = facts_towards(address == seen_.end() ? std::string{}
                                                 : std::get<std::string>(address->second));
  }
}

}  // namespace netbench::cli
