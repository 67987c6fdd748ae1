#pragma once

#include <string>

#include "bench/plan/tunable.hpp"

namespace netbench::plan {

inline Tunable buffer_tunable() {
  return {.transport = "tcp",
          .name = "sndbuf",
          .help = "send buffer",
          .unit = Unit::bytes,
          .allows_auto = true,
          .minimum = 4096,
          .maximum = 256 << 20,
          .default_level = Level::automatic(),
          .workloads = {"bandwidth"},
          .sweep = "256K,4M"};
}

inline Tunable congestion_tunable() {
  return {.transport = "tcp",
          .name = "congestion",
          .help = "congestion control",
          .type = ValueType::choice,
          .default_level = Level{0, "cubic", false},
          .choices = {{"cubic", "RFC 9438"}, {"bbr", "model based"}, {"dctcp", "RFC 8257"}}};
}

inline Tunable nodelay_tunable() {
  return {.transport = "tcp",
          .name = "nodelay",
          .help = "no Nagle",
          .type = ValueType::boolean,
          .default_level = Level{1, "on", false},
          .sweep = "off"};
}

inline Tunable bind_tunable() {
  return {.transport = "tcp", .name = "bind", .help = "address", .type = ValueType::text};
}

inline TransportSpec tcp_spec() {
  return {.name = "tcp",
          .summary = "TCP",
          .version = "1",
          .workloads = {{.name = "latency",
                         .pattern = Pattern::ping_pong,
                         .min_message_bytes = 1,
                         .max_message_bytes = 1 << 20,
                         .default_sizes = "64,1K,64K",
                         .quick_sizes = "64"},
                        {.name = "bandwidth",
                         .pattern = Pattern::stream,
                         .directions = {Direction::forward, Direction::reverse, Direction::both},
                         .min_message_bytes = 1,
                         .max_message_bytes = 1 << 30,
                         .default_sizes = "8K,128K,1M",
                         .quick_sizes = "128K"}},
          .tunables = {buffer_tunable(), congestion_tunable(), nodelay_tunable(), bind_tunable()}};
}

}  // namespace netbench::plan
