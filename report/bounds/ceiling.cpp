#include "report/bounds/ceiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "report/bounds/rdma_wire.hpp"

namespace netbench::report {

namespace {

constexpr std::string_view kTimestampsKey = "sysctl.net.ipv4.tcp_timestamps";

/// A number of one end, or why it is not known.
struct Known {
  std::optional<double> value;
  std::string why;
};

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* fraction = std::get_if<double>(&value)) {
    return *fraction;
  }
  return std::nullopt;
}

Known interface_fact(const HostInfo& host, std::string_view name) {
  if (host.interface.empty()) {
    return {std::nullopt, fmt::format("the interface of {} is not known", host.name)};
  }
  const std::string key = fmt::format("if.{}.{}", host.interface, name);
  const Fact* fact = find_fact(host, key);
  if (fact == nullptr) {
    return {std::nullopt, fmt::format("{} of {} was not read", key, host.name)};
  }
  return {number_of(fact->value), fact->unknown_because};
}

/// The smaller of both ends' numbers; not known where one of them is not.
Known smaller(const HostInfo& initiator, const HostInfo& responder, std::string_view name) {
  const Known a = interface_fact(initiator, name);
  const Known b = interface_fact(responder, name);
  if (!a.value || !b.value) {
    return {std::nullopt, a.value ? b.why : a.why};
  }
  return {std::min(*a.value, *b.value), {}};
}

/// The smallest number both ends report for an effective tunable; 0 where none does.
std::int64_t effective(const Measurement& measurement, const std::string& name) {
  std::int64_t smallest = 0;
  for (const ValueMap* map :
       {&measurement.tunables.effective_initiator, &measurement.tunables.effective_responder}) {
    const auto found = map->find(name);
    const auto number = found == map->end() ? std::nullopt : number_of(found->second);
    if (number && *number > 0) {
      const auto bytes = static_cast<std::int64_t>(*number);
      smallest = smallest == 0 ? bytes : std::min(smallest, bytes);
    }
  }
  return smallest;
}

/// Both ends have to offer timestamps (RFC 7323, section 3.2); the kernel does unless told not to.
bool has_timestamps(const HostInfo& host) {
  const Fact* fact = find_fact(host, kTimestampsKey);
  return fact == nullptr || number_of(fact->value).value_or(1) != 0;
}

std::optional<WireTraffic> traffic_of(const Measurement& measurement, const HostInfo& initiator,
                                      const HostInfo& responder) {
  WireTraffic traffic;
  const bool ipv6 =
      !responder.addresses.empty() && responder.addresses.front().find(':') != std::string::npos;
  traffic.family = ipv6 ? IpFamily::ipv6 : IpFamily::ipv4;
  if (measurement.transport == "tcp") {
    traffic.tcp_timestamps = has_timestamps(initiator) && has_timestamps(responder);
    traffic.mss_bytes = effective(measurement, "tcp.mss");
    return traffic;
  }
  if (measurement.transport == "udp") {
    traffic.protocol = WireProtocol::udp;
    traffic.datagram_bytes = measurement.size_bytes;
    return traffic;
  }
  return std::nullopt;
}

Ceiling unknown(const std::string& why) {
  return {std::nullopt, fmt::format("unknown, because {}", why.empty() ? "it was not read" : why)};
}

}  // namespace

Ceiling wire_ceiling(const Measurement& measurement, const HostInfo& initiator,
                     const HostInfo& responder, const CeilingOptions& options) {
  if (measurement.transport == "verbs") {
    return rdma_wire_ceiling(measurement, initiator, responder, options);
  }
  const auto traffic = traffic_of(measurement, initiator, responder);
  if (!traffic) {
    return unknown(fmt::format("{} is not bounded by an Ethernet wire", measurement.transport));
  }
  const Known rate = options.link_rate_bps ? Known{options.link_rate_bps, {}}
                                           : smaller(initiator, responder, "speed_bps");
  if (!rate.value) {
    return unknown(rate.why);
  }
  const Known mtu = smaller(initiator, responder, "mtu_bytes");
  if (!mtu.value && measurement.mtu_bytes == 0) {
    return unknown(mtu.why);
  }
  WireLink link{*rate.value, static_cast<std::int64_t>(mtu.value.value_or(0)),
                options.overhead_bytes, options.vlan};
  if (measurement.mtu_bytes > 0) {
    link.mtu_bytes = measurement.mtu_bytes;
  }
  Ceiling ceiling = goodput_ceiling(link, *traffic);
  if (ceiling.goodput_bps && measurement.direction == Direction::both) {
    *ceiling.goodput_bps *= 2;
    ceiling.note += ", both directions at once";
  }
  return ceiling;
}

}  // namespace netbench::report
