#pragma once

#include <set>
#include <string>

#include "bench/facts/counters.hpp"
#include "bench/model/document.hpp"
#include "bench/session/dial.hpp"
#include "bench/session/messages.hpp"

namespace netbench::cli {

/// What this host saw of a connection that failed, for the diagnosis of the document it leaves.
class ConnectWatch {
 public:
  /// Reads this host's counters: make it right before connecting.
  ConnectWatch();

  /// Of a name with several addresses the first counts, unless there was no way to it at all.
  void note(const session::SocketAddress& to, const session::ConnectFailure& failure);

  /// What the peer saw of another attempt: its counters before and after.
  void note_witness(const session::WitnessReply& before, const session::WitnessReply& after);

  /// Numeric addresses of the attempt that is noted, "" where there is none.
  [[nodiscard]] std::string tried_address() const;
  [[nodiscard]] std::string tried_from() const;

  /// Puts into the document's config what was noted, as `connect.{address, port, local_address,
  /// errno, elapsed_ms, icmp_type, icmp_code, icmp_from, neighbour_state, gateway, syn_retransmits,
  /// ping_answered, neighbour_macs}`, of a witness `connect.peer_{listens_on, way_back, out_rsts,
  /// listen_overflows, reverse_path_drops}`, and as `connect.<counter>` the counters of refused,
  /// unanswered and unsent packets that moved meanwhile; and the facts of this host towards that
  /// address as h0, unless it has some.
  void record(Document& document) const;

 private:
  /// Hosts that answer for the address, by ARP or as the neighbour table changes.
  void note_owners(const session::SocketAddress& to);

  facts::Snapshot before_;
  ValueMap seen_;
  std::set<std::string> owners_;
};

}  // namespace netbench::cli
