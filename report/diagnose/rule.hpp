#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/document.hpp"
#include "report/diagnose/look.hpp"

namespace netbench::report {

/// What a rule is asked about. stream: a TCP bandwidth row in one direction; datagrams: a UDP
/// bandwidth row; round_trips: a latency row; hosts: both hosts' facts; connection: a run that did
/// not come to measuring; verbs_stream, verbs_round_trips: the same of RDMA verbs; verbs_failure: a
/// row of them with an error.
enum class Scope {
  stream,
  datagrams,
  round_trips,
  hosts,
  connection,
  verbs_stream,
  verbs_round_trips,
  verbs_failure
};

enum class Outcome {
  fires,    // the class holds
  silent,   // the evidence speaks against it
  unknown,  // what it needs is not in the document
};

struct Verdict {
  Outcome outcome = Outcome::unknown;
  Confidence confidence = Confidence::possible;
  /// How much of the loss this explains, 0 … 1: measured over bound for limits. Ranks findings.
  double nearness = 0;
  std::string why;                     // with numbers and units, for --explain
  std::string cause;                   // one sentence, where it fires
  std::vector<std::string> remedy;     // commands, with real interfaces and values, where it fires
  std::optional<Severity> severity{};  // instead of the rule's
};

/// What an experiment shows where the rule's class is the cause: the goodput (round trips: the
/// latency) changes by a factor inside [at_least, at_most].
struct Prediction {
  std::string_view experiment;
  double at_least = 0;
  double at_most = 1e9;
};

/// A limit is a hypothesis about why a row is not faster, and competes with others; a defect is
/// wrong whatever the speed; a note is worth knowing and never above level info.
enum class Kind { limit, defect, note };

struct Rule {
  std::string_view id;        // "tcp.receive-buffer"
  std::string_view class_id;  // "W01"
  Scope scope;
  Kind kind;
  Severity severity;  // where it fires
  Verdict (*judge)(Look&);
  std::span<const Prediction> predictions{};
};

/// A family of rules; each is one file.
using RuleTable = std::span<const Rule>;

[[nodiscard]] RuleTable window_rules();       // windows, buffers, application: W
[[nodiscard]] RuleTable link_rules();         // link, NIC, driver: L
[[nodiscard]] RuleTable mtu_rules();          // M
[[nodiscard]] RuleTable path_rules();         // path, switch, cable: Q
[[nodiscard]] RuleTable cpu_rules();          // CPU and kernel: K
[[nodiscard]] RuleTable bus_rules();          // NUMA, PCIe: P
[[nodiscard]] RuleTable bond_rules();         // B
[[nodiscard]] RuleTable consistency_rules();  // both ends alike: V
[[nodiscard]] RuleTable connection_rules();   // C
[[nodiscard]] RuleTable rdma_rules();         // RDMA: R
[[nodiscard]] RuleTable standing_rules();     // what settings will cost, before any traffic

/// All families, in this order.
[[nodiscard]] std::span<const RuleTable> all_rules();

inline Verdict silent(std::string why) {
  return {Outcome::silent, {}, 0, std::move(why), {}, {}, {}};
}
inline Verdict unknown(std::string why) {
  return {Outcome::unknown, {}, 0, std::move(why), {}, {}, {}};
}

}  // namespace netbench::report
