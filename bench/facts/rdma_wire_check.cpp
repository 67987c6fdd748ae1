#include "bench/facts/rdma_wire_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace netbench::facts {

namespace {

constexpr double kOwnShare = 0.9;
constexpr double kWord = 4;  // bytes
/// RoCE over IPv6 with every extended header, as a port may count it.
constexpr double kMostPortHeaders = 108;
constexpr double kIpv4Roce = 14 + 20 + 8 + 12 + 4;
constexpr double kIpv6Roce = kIpv4Roce + 20;
constexpr double kExtended = 16 + 4 + 8;

std::optional<double> counter(const Counters& counters, const std::string& key) {
  const auto found = counters.find(key);
  return found == counters.end() ? std::nullopt : std::optional(found->second);
}

/// The largest "rdma.<rail>.<name>", and the rail's prefix.
struct Busiest {
  std::string prefix;
  double count = 0;
};
std::optional<Busiest> busiest(const Counters& counters, std::string_view name) {
  const std::string ending = fmt::format(".{}", name);
  std::optional<Busiest> best;
  for (auto at = counters.lower_bound("rdma."); at != counters.end(); ++at) {
    if (!at->first.starts_with("rdma.")) {
      break;
    }
    if (at->first.ends_with(ending) && (!best || at->second > best->count)) {
      best = {at->first.substr(0, at->first.size() - name.size()), at->second};
    }
  }
  return best;
}

}  // namespace

std::optional<RdmaBytes> rdma_bytes(const Counters& counters, const std::string& interface,
                                    bool ipv6) {
  if (const auto port = busiest(counters, "port_rcv_data")) {
    const auto packets = counter(counters, port->prefix + "port_rcv_packets");
    return RdmaBytes{port->count * kWord, packets.value_or(0), 0, kMostPortHeaders};
  }
  const auto bytes = counter(counters, fmt::format("if.{}.rx_bytes", interface));
  const auto packets = counter(counters, fmt::format("if.{}.rx_packets", interface));
  if (!busiest(counters, "rcvd_pkts") || !bytes || !packets) {
    return std::nullopt;
  }
  const double least = ipv6 ? kIpv6Roce : kIpv4Roce;
  return RdmaBytes{*bytes, *packets, least, least + kExtended};
}

std::optional<WireCheck> check_rdma_wire(double payload_bytes, const RdmaBytes& counted) {
  if (payload_bytes <= 0 || counted.bytes < kOwnShare * payload_bytes) {
    return std::nullopt;
  }
  const double most = counted.bytes - counted.packets * counted.least_header_bytes;
  const double least = counted.bytes - counted.packets * counted.most_header_bytes;
  const double surplus = std::max(0.0, least - payload_bytes);
  const double missing = std::max(0.0, payload_bytes - most);
  WireCheck check;
  check.wire_payload_bytes = std::clamp(payload_bytes, std::max(0.0, least), std::max(0.0, most));
  check.disagreement = std::max(surplus, missing) / payload_bytes;
  check.foreign_share = surplus / counted.bytes;
  return check;
}

}  // namespace netbench::facts
