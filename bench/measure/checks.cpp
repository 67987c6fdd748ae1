#include "bench/measure/checks.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "bench/facts/rdma_wire_check.hpp"
#include "bench/facts/wire_check.hpp"

namespace netbench::measure {

namespace {

constexpr double kForeignCpus = 0.3;
constexpr double kForeignBytes = 0.05;
constexpr double kWireTolerance = 0.01;
constexpr double kStealShare = 0.02;
/// Below this the control channel and other small talk would decide the comparison.
constexpr double kLeastPayloadBytes = 1e6;

double counter(const EndRecord& end, const std::string& name) {
  const auto found = end.counters.find(name);
  return found == end.counters.end() ? 0 : found->second;
}

bool is_ipv6(const HostInfo& host) {
  return !host.addresses.empty() && host.addresses.front().find(':') != std::string::npos;
}

bool timestamps_on(const HostInfo& host) {
  const Fact* fact = find_fact(host, "sysctl.tcp_timestamps");
  const auto* number = fact != nullptr ? std::get_if<std::int64_t>(&fact->value) : nullptr;
  return number == nullptr || *number != 0;
}

std::string interface_kind(const HostInfo& host) {
  const Fact* fact = find_fact(host, "if." + host.interface + ".kind");
  const auto* text = fact != nullptr ? std::get_if<std::string>(&fact->value) : nullptr;
  return text != nullptr ? *text : std::string();
}

struct End {
  const EndRecord& record;
  const EndRecord& other;
  const HostInfo& host;
};

/// Payload that came to this host: what the end received, and the datagrams that its own socket
/// dropped, which were of the same sizes.
double arrived_payload(const EndRecord& end) {
  const double received = counter(end, "payload.received_bytes");
  const double datagrams = counter(end, "udp.received");
  const double dropped = counter(end, "udp.socket_drops");
  return datagrams > 0 ? received * (1 + dropped / datagrams) : received;
}

/// A card's traffic passes the interface's counters by: its port counts it.
std::optional<facts::WireCheck> check_rdma(const End& end) {
  const double payload = counter(end.record, "payload.received_bytes");
  const auto counted =
      facts::rdma_bytes(end.record.counters, end.host.interface, is_ipv6(end.host));
  return counted && payload >= kLeastPayloadBytes ? facts::check_rdma_wire(payload, *counted)
                                                  : std::nullopt;
}

std::optional<facts::WireCheck> check_end(const End& end, const CheckContext& context) {
  if (context.transport == "verbs") {
    return check_rdma(end);
  }
  facts::PacketHeaders headers;
  headers.link_bytes =
      facts::counted_link_header_bytes(interface_kind(end.host), end.host.interface == "lo");
  headers.ipv6 = is_ipv6(end.host);
  headers.protocol =
      context.transport == "udp" ? facts::WireProtocol::udp : facts::WireProtocol::tcp;
  headers.timestamps = timestamps_on(end.host);
  auto input = facts::wire_input(end.record.counters, end.host.interface, headers);
  const double payload = arrived_payload(end.record);
  if (!input || payload < kLeastPayloadBytes) {
    return std::nullopt;
  }
  input->payload_bytes = payload;
  input->repeated_bytes = counter(end.other, "tcp_info.bytes_retrans");
  if (context.same_machine) {
    input->other_payload_bytes = arrived_payload(end.other);
    input->repeated_bytes += counter(end.record, "tcp_info.bytes_retrans");
  }
  return facts::check_wire(*input);
}

bool foreign_cpu(const EndRecord& end) {
  return end.elapsed_s > 0 && end.foreign_cpu_s / end.elapsed_s > kForeignCpus;
}

bool stolen(const EndRecord& end) {
  return end.elapsed_s > 0 && end.steal_s / end.elapsed_s > kStealShare;
}

}  // namespace

void check_round(Round& round, const CheckContext& context) {
  for (const End& end : {End{round.initiator, round.responder, context.initiator},
                         End{round.responder, round.initiator, context.responder}}) {
    if (foreign_cpu(end.record)) {
      round.flags.insert("foreign_load");
    }
    if (stolen(end.record)) {
      round.flags.insert("steal");
    }
    const auto wire = check_end(end, context);
    if (!wire) {
      continue;
    }
    round.wire_disagreement = std::max(round.wire_disagreement.value_or(0), wire->disagreement);
    if (wire->foreign_share > kForeignBytes) {
      round.flags.insert("foreign_load");
    }
  }
  if (round.wire_disagreement.value_or(0) > kWireTolerance) {
    round.flags.insert("wire_disagreement");
  }
}

}  // namespace netbench::measure
