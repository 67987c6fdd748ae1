#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/model/value.hpp"
#include "bench/stats/histogram.hpp"

namespace netbench {

enum class Direction { none, forward, reverse, both };
[[nodiscard]] std::string to_string(Direction direction);
[[nodiscard]] Result<Direction> parse_direction(std::string_view text);

/// One reading of a receiver's rate: payload bytes that arrived in (end_ns - duration_ns, end_ns],
/// end_ns counted from the start of the round on the receiver's clock.
struct SeriesPoint {
  std::int64_t end_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const SeriesPoint&, const SeriesPoint&) = default;
};

/// What one receiving end of a stream saw in a round.
struct StreamRecord {
  std::vector<SeriesPoint> series;  // everything, warm-up included
  std::int64_t warmup_cut_ns = 0;   // readings that end at or before this are warm-up
  std::int64_t measured_bytes = 0;  // bytes after the cut …
  std::int64_t measured_ns = 0;     // … in this time; goodput = bytes / time
  std::int64_t messages = 0;        // whole messages after the cut
  double goodput_bps = 0;
  std::optional<double> low_bps;  // interval within the round (t on 20 super-batches)
  std::optional<double> high_bps;
  std::string stop_reason;       // converged | noise_converged | max_time | cancelled
  bool no_steady_state = false;  // the warm-up had to end without a plateau

  friend bool operator==(const StreamRecord&, const StreamRecord&) = default;
};

/// Round trips seen by the initiator in a round. All samples after the warm-up cut are in
/// `histogram`, none trimmed.
struct LatencyRecord {
  stats::Histogram histogram;       // ns
  std::int64_t warmup_samples = 0;  // samples cut as warm-up
  std::int64_t warmup_cut_ns = 0;
  std::int64_t measured_ns = 0;
  double median_ns = 0;
  std::optional<double> low_ns;  // interval of the median within the round
  std::optional<double> high_ns;
  std::string stop_reason;
  bool no_steady_state = false;

  friend bool operator==(const LatencyRecord&, const LatencyRecord&) = default;
};

/// What one end spent and counted during a round.
struct EndRecord {
  Counters counters;         // tcp_info.*, netstat.*, if.<dev>.*, cpu.*, payload.*
  double cpu_s = 0;          // this process: user + system
  double softirq_s = 0;      // whole host
  double steal_s = 0;        // whole host
  double foreign_cpu_s = 0;  // busy time of the host that is neither ours nor softirq
  double elapsed_s = 0;

  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

struct Round {
  std::uint32_t index = 0;
  std::string started_utc;
  std::int64_t duration_ns = 0;
  std::optional<LatencyRecord> latency;
  std::optional<StreamRecord> forward;  // seen by the responder
  std::optional<StreamRecord> reverse;  // seen by the initiator
  EndRecord initiator;
  EndRecord responder;
  std::set<std::string> flags;
  /// Payload received by both ends against what the interfaces counted, relative (0.01 = 1 %);
  /// absent where the interface has no counters.
  std::optional<double> wire_disagreement;

  friend bool operator==(const Round&, const Round&) = default;
};

struct TunableRecord {
  ValueMap requested;
  ValueMap effective_initiator;
  ValueMap effective_responder;
  std::vector<std::string> notes;  // "tcp.rcvbuf capped …: sysctl -w …"

  friend bool operator==(const TunableRecord&, const TunableRecord&) = default;
};

/// The point across its rounds. Absent values were not measured or cannot be reported (a quantile
/// needs n(1-q) >= 10).
struct Summary {
  std::uint32_t n_rounds = 0;
  std::int64_t n_samples = 0;
  double confidence_level = 0.95;
  std::optional<double> goodput_bps, goodput_low_bps, goodput_high_bps;
  std::optional<double> forward_bps, reverse_bps;  // direction both: each way
  std::optional<double> messages_per_s, messages_low_per_s, messages_high_per_s;
  std::optional<double> rtt_min_ns, rtt_p50_ns, rtt_p90_ns, rtt_p99_ns, rtt_p999_ns, rtt_max_ns;
  std::optional<double> rtt_p50_low_ns, rtt_p50_high_ns;
  std::optional<double> cpu_s_per_gb_initiator, cpu_s_per_gb_responder;          // decimal GB
  std::optional<double> softirq_s_per_gb_initiator, softirq_s_per_gb_responder;  // whole host
  std::optional<double> steal_share_initiator, steal_share_responder;            // of elapsed time
  std::optional<double> ceiling_bps;             // analytic goodput limit of the wire
  std::string ceiling_note;                      // its arithmetic, or why unknown
  std::optional<double> retransmitted_segments;  // all rounds, real
  std::optional<double> spurious_retransmits;    // all rounds, DSACKed
  std::optional<double> lost_datagrams, socket_drops, reordered_datagrams, duplicate_datagrams;
  std::optional<double> jitter_ns;
  std::optional<double> wire_disagreement;  // worst round
  std::optional<double> round_cv;           // spread between rounds
  /// RFC 6349, section 4: actual over ideal transfer time; share of sent bytes that were not sent
  /// again; (round trip under load - base) / base. TCP streams only.
  std::optional<double> transfer_time_ratio, tcp_efficiency, buffer_delay;
  std::optional<std::string> rfc6349_note;  // "... unknown, because ..."
  std::set<std::string> stop_reasons;

  friend bool operator==(const Summary&, const Summary&) = default;
};

enum class MeasurementStatus { ok, failed, skipped };

struct Measurement {
  std::string id;
  std::string transport;
  std::string workload;
  Direction direction = Direction::none;
  std::int64_t size_bytes = 0;
  std::int64_t mtu_bytes = 0;  // requested by the MTU axis; 0 = the interface's own
  MeasurementStatus status = MeasurementStatus::ok;
  std::optional<Error> error;
  std::set<std::string> flags;  // capped, foreign_load, emulated_mtu, drift, multimodal, …
  std::string method;
  TunableRecord tunables;
  Summary summary;
  std::vector<Round> rounds;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace netbench
