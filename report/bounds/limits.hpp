#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/model/document.hpp"

namespace netbench::report {

/// An upper limit of a row's goodput, with its arithmetic.
struct Bound {
  std::string id;    // "receive-window"
  std::string name;  // "receive window over round trip"
  std::string end;   // "h0", "h1" or "" for the path
  std::optional<double> limit_bps;
  double nearness = 0;                // measured / limit; 0 where either is not known
  std::string arithmetic;             // "1.31 MB x 8 / 10.2 ms", or "unknown, because …"
  std::vector<std::string> evidence;  // JSON pointers
};

/// Every bound of a bandwidth row that its document allows, nearest first; those that cannot be
/// computed last, with the reason. Ids: wire, pcie, bond-member, receive-window, send-buffer,
/// congestion-window, loss, pacing, sender-thread, receiver-thread, softirq, sender-application,
/// receiver-application; of verbs, instead of TCP's, read-depth, work-queue, one-queue-pair.
[[nodiscard]] std::vector<Bound> limits_of(const Document& document, const Measurement& row);

}  // namespace netbench::report
