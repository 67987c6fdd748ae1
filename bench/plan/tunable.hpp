#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/model/measurement.hpp"
#include "bench/model/value.hpp"

namespace netbench::plan {

/// The harness's own value types of what a transport declares in its C table; units and meanings as
/// in transports/abi/nb_transport.h.
enum class ValueType { integer, boolean, choice, text };
enum class Unit { none, bytes, nanoseconds, bits_per_second, count };
enum class Scale { linear, power_of_two };
enum class Scope { connection, process, host };
enum class Pattern { ping_pong, stream, collective, rate };

[[nodiscard]] std::string_view to_string(ValueType type);
[[nodiscard]] std::string_view to_string(Unit unit);
[[nodiscard]] std::string_view to_string(Scope scope);
[[nodiscard]] std::string_view to_string(Pattern pattern);

/// One level of a tunable in base units (bytes, ns, bit/s). `text` is the name where the number is
/// not what a person would write: "on"/"off", a choice, free text; empty for plain numbers.
/// Ordered by number, `auto` first.
struct Level {
  std::int64_t number = 0;  // boolean 0/1, index of a choice; 0 for text and auto
  std::string text{};
  bool is_auto = false;

  [[nodiscard]] static Level automatic() { return Level{0, {}, true}; }
  [[nodiscard]] static Level integer(std::int64_t number) { return Level{number, {}, false}; }

  [[nodiscard]] bool operator==(const Level&) const = default;
  [[nodiscard]] std::strong_ordering operator<=>(const Level& other) const;
};

/// Exact and machine-readable: "auto", "262144", "on", "bbr". Used in the ids of points.
[[nodiscard]] std::string to_string(const Level& level);

/// In the unit's notation, as it is typed on the command line: "auto", "256K", "100M", "50us",
/// "on". parse_levels() reads it back.
[[nodiscard]] std::string to_string(const Level& level, Unit unit);

struct Choice {
  std::string name{};
  std::string help{};
};

/// One declared tunable. `transport` is its namespace: "tcp" gives `tcp.sndbuf`; empty for the
/// harness's own (`size`).
struct Tunable {
  std::string transport{};
  std::string name{};
  std::string help{};
  ValueType type = ValueType::integer;
  Unit unit = Unit::none;
  Scale scale = Scale::linear;
  Scope scope = Scope::connection;
  bool allows_auto = false;
  std::int64_t minimum = 0;  // integers
  std::int64_t maximum = 0;
  Level default_level{};
  std::vector<Choice> choices{};
  std::vector<std::string> workloads{};  // names it applies to; empty = to all
  std::string sweep{};                   // further levels of the default plan; may be empty
  std::vector<std::string>
      sweep_workloads{};  // where that plan sweeps it; empty = all it applies to

  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] bool applies_to(std::string_view workload) const;
  [[nodiscard]] bool swept_in(std::string_view workload) const;
};

/// What it takes, in words: "a size from 4K to 256M, or auto", "one of cubic, bbr", "on or off".
[[nodiscard]] std::string allowed_values(const Tunable& tunable);

/// The level as it stands in a result document: bool, int64, or string ("auto" too).
[[nodiscard]] Value to_value(const Tunable& tunable, const Level& level);

struct Workload {
  std::string name{};
  std::string summary{};
  Pattern pattern = Pattern::ping_pong;
  std::vector<Direction> directions{};  // empty where it has none
  std::int64_t min_message_bytes = 1;
  std::int64_t max_message_bytes = 1;
  std::string default_sizes{};  // levels of the default plan, "64,1K,64K"
  std::string quick_sizes{};
};

/// All that a plan needs to know about a transport.
struct TransportSpec {
  std::string name{};
  std::string summary{};
  std::string version{};
  std::vector<Workload> workloads{};
  std::vector<Tunable> tunables{};

  [[nodiscard]] const Workload* find_workload(std::string_view workload) const;
  [[nodiscard]] const Tunable* find_tunable(std::string_view tunable) const;
};

}  // namespace netbench::plan
