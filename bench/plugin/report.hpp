#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/plan/tunable.hpp"

namespace netbench::plugin {

/// What a transport told through a sink: `tcp_info.total_retrans` → 3.
struct Readings {
  std::map<std::string, double> numbers{};
  std::map<std::string, std::string> texts{};
};

/// The value a tunable really has on this end.
struct EffectiveValue {
  std::string name{};  // without the transport's prefix
  plan::Level level{};
  bool capped = false;  // less than asked for
  std::string note{};   // where capped: the limit and how to raise it
};

struct Batch {
  std::int64_t iterations = 0;   // ping-pong initiator; 0: serve until the peer stops
  std::int64_t duration_ns = 0;  // window of a receiving stream end; 0: until stop
};

/// Of the transport's clock, which is virtual in a simulated transport: elapsed time of a
/// measurement comes from here, not from the wall.
struct BatchResult {
  std::size_t sample_count = 0;  // filled entries of the caller's span
  std::int64_t bytes = 0;        // payload this end received
  std::int64_t messages = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

enum class Availability { available, unavailable, broken };

/// Outcome of a probe. `error` says why a transport is unavailable or what broke.
struct ProbeReport {
  Availability availability = Availability::broken;
  Readings readings{};
  Error error{};
};

}  // namespace netbench::plugin
