#pragma once

#include <span>
#include <string_view>

namespace netbench::report {

/// What an RDMA counter tells, whatever its driver calls it.
enum class RdmaMeaning {
  retransmits,       // requester sent something again
  ack_timeouts,      // requester: no acknowledgement in time
  sequence_naks,     // requester: the peer missed a packet
  out_of_sequence,   // responder: packets missing or reordered
  duplicates,        // responder: the peer sent something again
  rnr_received,      // requester: the peer had no receive ready
  no_receive,        // responder: no receive was posted
  retries_exceeded,  // requester gave up
  cnp_handled,       // sender slowed down for a congestion notification
  cnp_sent,          // receiver saw marks of congestion and said so
  ecn_marked,        // receiver: packets that the network marked
  slow_restarts,     // sender: adaptive retransmission
  icrc_errors,       // receiver: damaged packets
  requests_arrived,  // responder: reads, writes, sends or atomics of a peer
  packets_arrived,   // anything
  packets_left,      //
  bytes_arrived,     // with the headers that the driver counts
  bytes_left,        //
  refused_requests,  // either end: access, range or operation not allowed
  link_errors,       // symbols, receive errors, integrity: optics or cable
  link_downs,        //
  credit_waits,      // InfiniBand: ticks with data but no credits
  discards,          // sent packets dropped by the port
};

/// One name of one driver. Port counters (ports/<n>/counters, InfiniBand Architecture 1.5, volume
/// 1, section 16.1.3.5) have no driver of their own.
struct RdmaCounterName {
  RdmaMeaning meaning;
  std::string_view driver;  // "" where any may have it
  std::string_view name;
  double unit = 1;               // what one count stands for: port_xmit_data counts 4 bytes
  bool moves_when_well = false;  // rises in faultless runs: never a finding
};

/// Sources: the kernel's drivers/infiniband/hw/{mlx5/counters.c, bnxt_re/hw_counters.c,
/// irdma/verbs.c, efa/efa_verbs.c, mana/counters.c} and sw/rxe/rxe_hw_counters.c; siw counts
/// nothing.
[[nodiscard]] std::span<const RdmaCounterName> rdma_counter_names();

}  // namespace netbench::report
