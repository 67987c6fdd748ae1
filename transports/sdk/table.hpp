#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "transports/abi/nb_transport.h"

/// Rows of a plug-in's static tables, written with designated initialisers:
///   constexpr nb_tunable kTunables[] = {row(Integer{.name = "sndbuf", .help = "…", …}), …};
namespace netbench::sdk {

/// Bit of a tunable's `workloads` for the workload of this index.
[[nodiscard]] constexpr std::uint64_t applies_to(unsigned workload_index) {
  return std::uint64_t{1} << workload_index;
}

struct Workload {
  const char* name;
  const char* summary;
  nb_pattern pattern = NB_PING_PONG;
  std::uint32_t directions = 0;
  std::int64_t min_message_bytes = 1;
  std::int64_t max_message_bytes = std::numeric_limits<std::int32_t>::max();
  const char* default_sizes = "64";
  const char* quick_sizes = "64";
};

struct Integer {
  const char* name;
  const char* help;
  nb_unit unit = NB_UNIT_NONE;
  nb_scale scale = NB_SCALE_LINEAR;
  bool allows_auto = false;
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  std::int64_t default_number = 0;  // NB_AUTO where `auto` is the default
  std::uint64_t workloads = 0;
  const char* sweep = nullptr;
  std::uint64_t sweep_workloads = 0;
  nb_scope scope = NB_SCOPE_CONNECTION;
};

struct Boolean {
  const char* name;
  const char* help;
  bool default_value = false;
  std::uint64_t workloads = 0;
  const char* sweep = nullptr;
  std::uint64_t sweep_workloads = 0;
  nb_scope scope = NB_SCOPE_CONNECTION;
};

struct Choice {
  const char* name;
  const char* help;
  const nb_choice* choices = nullptr;
  std::size_t choice_count = 0;
  std::int64_t default_index = 0;
  std::uint64_t workloads = 0;
  const char* sweep = nullptr;
  std::uint64_t sweep_workloads = 0;
  nb_scope scope = NB_SCOPE_CONNECTION;
};

struct Text {
  const char* name;
  const char* help;
  const char* default_text = "auto";
  std::uint64_t workloads = 0;
  const char* sweep = nullptr;
  std::uint64_t sweep_workloads = 0;
  nb_scope scope = NB_SCOPE_CONNECTION;
};

[[nodiscard]] constexpr nb_workload row(const Workload& w) {
  return {sizeof(nb_workload), w.name,          w.summary,
          w.pattern,           w.directions,    w.min_message_bytes,
          w.max_message_bytes, w.default_sizes, w.quick_sizes};
}

[[nodiscard]] constexpr nb_tunable row(const Integer& t) {
  return {sizeof(nb_tunable),
          t.name,
          t.help,
          NB_TYPE_INTEGER,
          t.unit,
          t.scale,
          t.scope,
          t.allows_auto ? NB_TUNABLE_ALLOWS_AUTO : 0,
          t.minimum,
          t.maximum,
          t.default_number,
          nullptr,
          nullptr,
          0,
          t.workloads,
          t.sweep,
          t.sweep_workloads};
}

[[nodiscard]] constexpr nb_tunable row(const Boolean& t) {
  return {sizeof(nb_tunable),
          t.name,
          t.help,
          NB_TYPE_BOOLEAN,
          NB_UNIT_NONE,
          NB_SCALE_LINEAR,
          t.scope,
          0,
          0,
          1,
          t.default_value ? 1 : 0,
          nullptr,
          nullptr,
          0,
          t.workloads,
          t.sweep,
          t.sweep_workloads};
}

[[nodiscard]] constexpr nb_tunable row(const Choice& t) {
  return {sizeof(nb_tunable),
          t.name,
          t.help,
          NB_TYPE_CHOICE,
          NB_UNIT_NONE,
          NB_SCALE_LINEAR,
          t.scope,
          0,
          0,
          static_cast<std::int64_t>(t.choice_count) - 1,
          t.default_index,
          nullptr,
          t.choices,
          t.choice_count,
          t.workloads,
          t.sweep,
          t.sweep_workloads};
}

[[nodiscard]] constexpr nb_tunable row(const Text& t) {
  return {sizeof(nb_tunable),
          t.name,
          t.help,
          NB_TYPE_TEXT,
          NB_UNIT_NONE,
          NB_SCALE_LINEAR,
          t.scope,
          0,
          0,
          0,
          0,
          t.default_text,
          nullptr,
          0,
          t.workloads,
          t.sweep,
          t.sweep_workloads};
}

}  // namespace netbench::sdk
