#pragma once

#include <optional>
#include <string>

#include "bench/model/measurement.hpp"

namespace netbench::report {

/// The three metrics of RFC 6349, section 4, for one TCP stream row.
struct Rfc6349 {
  /// 4.1: actual over ideal transfer time; both move the same bytes, so it is the wire's goodput
  /// limit over the measured goodput. 1 is ideal.
  std::optional<double> transfer_time_ratio;
  /// 4.2: (bytes sent - bytes sent again) / bytes sent, by TCP_INFO of the sending ends.
  std::optional<double> tcp_efficiency;
  /// 4.3: (mean round trip under load - base) / base, by TCP_INFO of the sending ends: rtt_us while
  /// the stream runs against min_rtt_us. The worse end where both send.
  std::optional<double> buffer_delay;
  std::string note;  // "buffer delay unknown, because …; …" for those without a value
};

/// Nothing for rows that are not TCP bandwidth with a goodput.
[[nodiscard]] std::optional<Rfc6349> rfc6349_of(const Measurement& row);

/// Puts them into the row's summary.
void add_rfc6349(Measurement& row);

}  // namespace netbench::report
