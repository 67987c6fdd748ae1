#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/bounds/rdma_wire.hpp"
#include "report/bounds/row_reader.hpp"

namespace netbench::report {

namespace {

Ceiling unknown(const std::string& why) {
  return {std::nullopt, fmt::format("unknown, because {}", why)};
}

std::string text_of(const Value* value) {
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string{} : *text;
}

const Value* setting(const ValueMap& effective, const std::string& name) {
  const auto found = effective.find("verbs." + name);
  return found == effective.end() ? nullptr : &found->second;
}

/// One end of a row: its host, what is in effect there, and its rail.
struct End {
  const HostInfo& host;
  const ValueMap& effective;
  std::string rail;

  [[nodiscard]] const Value* fact(const std::string& name) const {
    const Fact* found = find_fact(host, fmt::format("rdma.{}.{}", rail, name));
    return found == nullptr ? nullptr : &found->value;
  }
  [[nodiscard]] std::optional<double> number(const std::string& name) const {
    const Value* value = fact(name);
    return value == nullptr ? std::nullopt : number_of(*value);
  }
  [[nodiscard]] std::optional<double> set(const std::string& name) const {
    const Value* value = setting(effective, name);
    return value == nullptr ? std::nullopt : number_of(*value);
  }
};

End end_of(const HostInfo& host, const ValueMap& effective) {
  return {host, effective, rail_in_effect(host, effective)};
}

/// The GID in use: its address and type by its index in the rail's table.
std::string gid_text(const End& end, const std::string& what) {
  const auto number = end.set("gid_index");
  const std::string index =
      number ? fmt::format("{:.0f}", *number) : text_of(setting(end.effective, "gid_index"));
  return text_of(end.fact(fmt::format("gid.{}.{}", index, what)));
}

RdmaWire wire_of(const End& end) {
  const std::string layer = text_of(end.fact("link_layer"));
  if (layer == "InfiniBand") {
    return RdmaWire::infiniband;
  }
  if (layer == "iWARP" || text_of(end.fact("driver")) == "siw") {
    return RdmaWire::iwarp;
  }
  return gid_text(end, "type") == "IB/RoCE v1" ? RdmaWire::roce_v1 : RdmaWire::roce_v2;
}

/// What the ends agree on, or what only one of them tells; the smaller of two.
std::optional<double> smaller(std::optional<double> one, std::optional<double> other) {
  return one && other ? std::min(*one, *other) : one ? one : other;
}

std::optional<double> path_mtu(const End& near, const End& far, RdmaWire wire) {
  if (wire == RdmaWire::iwarp) {
    return smaller(near.number("interface_mtu_bytes"), far.number("interface_mtu_bytes"));
  }
  const auto set = smaller(near.set("path_mtu"), far.set("path_mtu"));
  return set ? set : smaller(near.number("active_mtu_bytes"), far.number("active_mtu_bytes"));
}

RdmaMessages messages_of(const Measurement& row, const End& end) {
  const std::string operation = text_of(setting(end.effective, "op"));
  RdmaMessages messages;
  messages.size_bytes = row.size_bytes;
  messages.remote_address = operation.empty() || operation.starts_with("write");
  messages.immediate = operation == "write_imm";
  messages.response = operation == "read";
  messages.datagram = text_of(setting(end.effective, "qp")) == "ud";
  return messages;
}

}  // namespace

std::string rail_in_effect(const HostInfo& host, const ValueMap& effective) {
  if (const auto device = text_of(setting(effective, "device"));
      !device.empty() && device != "auto") {
    return device;
  }
  std::set<std::string> rails;
  constexpr std::string_view kPrefix = "rdma.";
  for (const Fact& fact : host.facts) {
    const auto end = fact.key.rfind(".rate_bps");
    if (!fact.key.starts_with(kPrefix) || end == std::string::npos) {
      continue;
    }
    const std::string rail = fact.key.substr(kPrefix.size(), end - kPrefix.size());
    const Fact* interface = find_fact(host, fmt::format("rdma.{}.interface", rail));
    if (interface != nullptr && !host.interface.empty() &&
        text_of(&interface->value) == host.interface) {
      return rail;
    }
    rails.insert(rail);
  }
  return rails.size() == 1 ? *rails.begin() : std::string{};
}

Ceiling rdma_wire_ceiling(const Measurement& measurement, const HostInfo& initiator,
                          const HostInfo& responder, const CeilingOptions& options) {
  const End near = end_of(initiator, measurement.tunables.effective_initiator);
  const End far = end_of(responder, measurement.tunables.effective_responder);
  const bool software =
      near.number("software").value_or(0) != 0 || far.number("software").value_or(0) != 0;
  if (software && !options.link_rate_bps) {
    return unknown("software RDMA names a rate that is not its own");
  }
  const auto near_rate = near.number("rate_bps");
  const auto far_rate = far.number("rate_bps");
  if (!options.link_rate_bps && (!near_rate || !far_rate)) {
    return unknown(fmt::format("the rate of the rail of {} was not read",
                               near_rate ? responder.name : initiator.name));
  }
  RdmaLink link;
  link.rate_bps = options.link_rate_bps ? *options.link_rate_bps : std::min(*near_rate, *far_rate);
  link.wire = wire_of(near);
  link.family =
      gid_text(near, "address").starts_with("::ffff:") || gid_text(near, "address").empty()
          ? IpFamily::ipv4
          : IpFamily::ipv6;
  const auto mtu = path_mtu(near, far, link.wire);
  if (!mtu) {
    return unknown("the path MTU is not known");
  }
  link.path_mtu_bytes = static_cast<std::int64_t>(*mtu);
  Ceiling ceiling = rdma_goodput_ceiling(link, messages_of(measurement, near));
  if (ceiling.goodput_bps && measurement.direction == Direction::both) {
    *ceiling.goodput_bps *= 2;
    ceiling.note += ", both directions at once";
  }
  return ceiling;
}

}  // namespace netbench::report
