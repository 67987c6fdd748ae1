#pragma once

#include "bench/facts/counters.hpp"
#include "bench/model/document.hpp"
#include "bench/session/dial.hpp"

namespace netbench::cli {

/// What this host saw of a connection that failed, for the diagnosis of the document it leaves.
class ConnectWatch {
 public:
  /// Reads this host's counters: make it right before connecting.
  ConnectWatch();

  /// Of a name with several addresses the first counts, unless there was no way to it at all.
  void note(const session::SocketAddress& to, const session::ConnectFailure& failure);

  /// Puts into the document's config what was noted, as `connect.{address, port, local_address,
  /// errno, elapsed_ms, icmp_type, icmp_code, icmp_from, neighbour_state, gateway, syn_retransmits,
  /// ping_answered}`, and as `connect.<counter>` the counters of refused, unanswered and unsent
  /// packets that moved meanwhile; and the facts of this host towards that address as h0, unless
  /// it has some.
  void record(Document& document) const;

 private:
  facts::Snapshot before_;
  ValueMap seen_;
};

}  // namespace netbench::cli
