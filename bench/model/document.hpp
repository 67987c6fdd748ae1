#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/model/facts.hpp"
#include "bench/model/measurement.hpp"
#include "bench/model/value.hpp"

namespace netbench {

enum class Severity { info, warning, problem };
enum class Confidence { confirmed, likely, possible, excluded };

/// One conclusion about a document. `evidence` are JSON pointers into it.
struct Finding {
  std::string id;        // `mtu.blackhole`
  std::string class_id;  // catalogue class, "M02"; may be empty
  Severity severity = Severity::info;
  Confidence confidence = Confidence::possible;
  std::string cause;  // one sentence
  std::vector<std::string> evidence;
  std::vector<std::string> remedy;  // commands for this host and interface
  std::vector<std::string> ruled_out;
  std::vector<std::string> not_evaluated;

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// One thing changed on one row for a moment, alternating with the row as it was (A-B-A-B), to find
/// out what limits it.
struct Intervention {
  std::string id;      // "more-streams"
  std::string row;     // id of the measurement
  std::string change;  // "4 streams instead of 1"
  std::string metric;  // goodput_bps | rtt_p50_ns
  double base = 0;     // median as it was
  double changed = 0;  // median with the change
  double ratio = 0;    // changed / base: median of the pairs' ratios, with its interval
  double ratio_low = 0;
  double ratio_high = 0;
  std::uint32_t n_pairs = 0;
  std::string note;  // why it could not be made, or what was in the way

  friend bool operator==(const Intervention&, const Intervention&) = default;
};

/// Largest IP packet that gets through without fragmentation, each way, in bytes (0 = not known).
struct PathMtu {
  std::int64_t forward_bytes = 0;
  std::int64_t reverse_bytes = 0;
  std::string method;  // udp-df | tcp-mss | not probed
  std::string note;    // black hole, filtered …
  bool black_hole = false;

  friend bool operator==(const PathMtu&, const PathMtu&) = default;
};

struct RunInfo {
  std::string id;  // random, 16 hex digits
  std::string started_utc;
  std::string finished_utc;
  std::string netbench_version;
  std::vector<std::string> command_line;
  bool same_machine = false;  // equal boot ids
  bool authenticated = true;  // false: --insecure
  PathMtu path_mtu;
  /// Costs of the harness itself, ns a message on the sim transport (bench/micro), and of the
  /// clock.
  std::optional<double> harness_ns_per_message;
  std::optional<double> clock_ns;

  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

enum class DocumentStatus { ok, partial, failed };

/// A whole result, as it stands in the JSON file.
struct Document {
  DocumentStatus status = DocumentStatus::ok;
  std::optional<Error> error;
  RunInfo run;
  std::map<std::string, Value> config;    // effective, with the seed
  std::map<std::string, HostInfo> hosts;  // h0 = initiator, h1 = responder
  std::vector<Measurement> measurements;
  std::vector<Intervention> interventions;
  std::vector<Finding> findings;

  friend bool operator==(const Document&, const Document&) = default;
};

}  // namespace netbench
