#pragma once

#include <cstdint>

#include "bench/model/document.hpp"
#include "report/bounds/ceiling.hpp"
#include "report/bounds/wire.hpp"

namespace netbench::report {

enum class RdmaWire { roce_v2, roce_v1, infiniband, iwarp };

struct RdmaLink {
  double rate_bps = 0;  // of data: the line code is taken off already
  RdmaWire wire = RdmaWire::roce_v2;
  IpFamily family = IpFamily::ipv4;
  std::int64_t path_mtu_bytes = 0;  // payload of a full packet; iWARP: the interface's MTU
};

struct RdmaMessages {
  std::int64_t size_bytes = 0;
  bool remote_address = true;  // writes: RETH in the first packet, 16 bytes
  bool immediate = false;      // ImmDt in the last packet, 4 bytes
  bool datagram = false;       // DETH in every packet, 8 bytes
  bool response = false;       // reads: AETH in the first and the last packet, 4 bytes
};

/// Payload rate of a link that is never idle, one direction: rate × message / its bytes on the
/// wire. A packet has, beside up to a path MTU of payload padded to 4 bytes: RoCE v2 Ethernet 38,
/// IP 20 or 40, UDP 8, BTH 12, ICRC 4 (InfiniBand Architecture, annex A17); RoCE v1 Ethernet 38,
/// GRH 40, BTH 12, ICRC 4 (annex A16); InfiniBand LRH 8, BTH 12, ICRC 4, VCRC 2 (volume 1, chapters
/// 5 and 9), within one subnet. iWARP: TCP segments without options, each with one FPDU: MPA 2 and
/// CRC 4 (RFC 5044), DDP and RDMAP 14 tagged, 18 untagged (RFC 5041, RFC 5040). No value where
/// rate, size or MTU leave nothing. Pure.
[[nodiscard]] Ceiling rdma_goodput_ceiling(const RdmaLink& link, const RdmaMessages& messages);

/// The wire's limit of a verbs row: the slower rail (rdma.<rail>.rate_bps), the path MTU in effect,
/// the GID's type and family. Unknown for software devices unless the user tells the link's rate:
/// they name a rate that is not theirs.
[[nodiscard]] Ceiling rdma_wire_ceiling(const Measurement& measurement, const HostInfo& initiator,
                                        const HostInfo& responder, const CeilingOptions& options);

/// The rail that carries a row at one end: the one in effect, else that of the test's interface,
/// else the only one; "" where it cannot be told. Pure.
[[nodiscard]] std::string rail_in_effect(const HostInfo& host, const ValueMap& effective);

}  // namespace netbench::report
