#pragma once

#include <array>
#include <cstdint>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/table.hpp"

/// What the verbs transport can do: its workloads and tunables, and the enums whose values are
/// their indices.
namespace netbench::verbs {

enum class WorkloadId : std::uint32_t { latency = 0, bandwidth = 1, message_rate = 2 };
enum class Op : std::int64_t {
  write = 0,
  write_imm = 1,
  send = 2,
  read = 3,
  fetch_add = 4,
  compare_swap = 5,
};
enum class Qp : std::int64_t { rc = 0, uc = 1, ud = 2 };
enum class Wait : std::int64_t { adaptive = 0, poll = 1, event = 2 };

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

/// Of every atomic operation (IBTA 1.4, 9.4.5).
inline constexpr std::int64_t kAtomicBytes = 8;
inline constexpr std::int64_t kMaxQps = 4096;

inline constexpr std::uint64_t bit(WorkloadId id) {
  return sdk::applies_to(static_cast<unsigned>(id));
}
inline constexpr std::uint64_t kStreams =
    bit(WorkloadId::bandwidth) | bit(WorkloadId::message_rate);
inline constexpr std::uint32_t kAllDirections = NB_FORWARD | NB_REVERSE | NB_BOTH;

inline constexpr std::array kWorkloadRows = {
    sdk::row(sdk::Workload{.name = "latency",
                           .summary = "closed loop: round trip of one operation at a time",
                           .pattern = NB_PING_PONG,
                           .max_message_bytes = kGiB,
                           .default_sizes = "64,1K,64K",
                           .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "bandwidth",
                           .summary = "stream of operations: bytes the receiving end has, over its "
                                      "own clock",
                           .pattern = NB_STREAM,
                           .directions = kAllDirections,
                           .max_message_bytes = kGiB,
                           .default_sizes = "8K,128K,1M",
                           .quick_sizes = "128K,1M"}),
    sdk::row(sdk::Workload{.name = "message_rate",
                           .summary = "stream of small operations: operations per second",
                           .pattern = NB_RATE,
                           .directions = kAllDirections,
                           .max_message_bytes = kMiB,
                           .default_sizes = "64",
                           .quick_sizes = "64"}),
};

inline constexpr std::array kOpChoices = {
    nb_choice{"write", "RDMA write"},
    nb_choice{"write_imm", "RDMA write with immediate: completes at the receiver too"},
    nb_choice{"send", "send into a posted receive"},
    nb_choice{"read", "RDMA read, by the end that receives the bytes"},
    nb_choice{"fetch_add", "atomic fetch-and-add of 8 bytes"},
    nb_choice{"compare_swap", "atomic compare-and-swap of 8 bytes"},
};
inline constexpr std::array kQpChoices = {
    nb_choice{"rc", "reliable connection"},
    nb_choice{"uc", "unreliable connection: write, write_imm, send"},
    nb_choice{"ud", "unreliable datagram: send of at most the path MTU"},
};
inline constexpr std::array kWaitChoices = {
    nb_choice{"adaptive", "poll for 50 us without a completion, then sleep until an event"},
    nb_choice{"poll", "poll without end; burns a core a thread"},
    nb_choice{"event", "sleep until an event at once"},
};
inline constexpr std::array kTunableRows = {
    sdk::row(sdk::Choice{.name = "op",
                         .help = "operation that carries the payload",
                         .choices = kOpChoices.data(),
                         .choice_count = kOpChoices.size(),
                         .sweep = "read",
                         .sweep_workloads = bit(WorkloadId::bandwidth)}),
    sdk::row(sdk::Choice{.name = "qp",
                         .help = "transport type of the queue pairs",
                         .choices = kQpChoices.data(),
                         .choice_count = kQpChoices.size()}),
    sdk::row(sdk::Integer{.name = "qps",
                          .help = "queue pairs at once",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .minimum = 1,
                          .maximum = kMaxQps,
                          .default_number = 1,
                          .workloads = kStreams,
                          .sweep = "4",
                          .sweep_workloads = bit(WorkloadId::bandwidth)}),
    sdk::row(sdk::Integer{.name = "threads",
                          .help = "threads that the queue pairs are divided among, one completion "
                                  "queue each; auto: one a queue pair, up to the CPUs there are",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 1024,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "tx_depth",
                          .help = "work requests under way on each queue pair; auto: 128, less "
                                  "where all messages under way would exceed 8 MiB",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 16384,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "rx_depth",
                          .help =
                              "receives posted on each queue pair (send, write_imm); auto: 512, "
                              "less where their buffers would exceed 8 MiB",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 16384,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "post_list",
                          .help = "work requests chained to one doorbell; auto: 16 up to 4 KiB, "
                                  "else 1",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 1024,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "cq_moderation",
                          .help = "work requests to one completion; auto: a quarter of tx_depth",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 4096,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "inline",
                          .help = "payload up to this size goes into the work request; auto: as "
                                  "much as the device grants up to 256 B, 0: never",
                          .unit = NB_UNIT_BYTES,
                          .allows_auto = true,
                          .minimum = 0,
                          .maximum = 4096,
                          .default_number = NB_AUTO}),
    sdk::row(sdk::Integer{.name = "path_mtu",
                          .help = "path MTU of the queue pairs (256, 512, 1024, 2048, 4096); auto: "
                                  "the smaller active MTU of both ports",
                          .unit = NB_UNIT_BYTES,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 256,
                          .maximum = 4096,
                          .default_number = NB_AUTO}),
    sdk::row(sdk::Integer{.name = "read_depth",
                          .help = "reads and atomics under way on each queue pair; auto: what both "
                                  "devices carry",
                          .unit = NB_UNIT_COUNT,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 255,
                          .default_number = NB_AUTO}),
    sdk::row(sdk::Choice{.name = "wait",
                         .help = "how a thread waits for completions",
                         .choices = kWaitChoices.data(),
                         .choice_count = kWaitChoices.size()}),
    sdk::row(sdk::Text{.name = "device",
                       .help = "rail: mlx5_0, mlx4_0:2 where a device has several ports, "
                               "initiator/responder as mlx5_0/mlx5_1; auto: the one that has the "
                               "control channel's address, else the first active one"}),
    sdk::row(sdk::Text{.name = "gid_index",
                       .help = "index in the port's GID table, initiator:responder as 1:3; auto: a "
                               "pair chosen from both tables"}),
    sdk::row(sdk::Integer{.name = "traffic_class",
                          .help = "traffic class of the packets: DSCP × 4 on RoCE v2",
                          .minimum = 0,
                          .maximum = 255}),
    sdk::row(sdk::Integer{.name = "sl", .help = "service level", .minimum = 0, .maximum = 15}),
    sdk::row(sdk::Integer{.name = "flow_label",
                          .help = "flow label, of which RoCE v2 makes the UDP source port",
                          .minimum = 0,
                          .maximum = 0xfffff}),
    sdk::row(sdk::Integer{.name = "ack_timeout",
                          .help = "the NIC sends again after 4.096 us x 2^n without an "
                                  "acknowledgement (RC); 0: never",
                          .minimum = 0,
                          .maximum = 31,
                          .default_number = 16}),
    sdk::row(sdk::Integer{.name = "retries",
                          .help = "how often the NIC sends again before it gives up (RC)",
                          .unit = NB_UNIT_COUNT,
                          .minimum = 0,
                          .maximum = 7,
                          .default_number = 7}),
    sdk::row(sdk::Integer{.name = "rnr_retries",
                          .help = "how often the NIC tries a receiver without receives; 7: without "
                                  "end (RC)",
                          .unit = NB_UNIT_COUNT,
                          .minimum = 0,
                          .maximum = 7,
                          .default_number = 7}),
    sdk::row(sdk::Boolean{.name = "huge_pages", .help = "message buffers in huge pages"}),
    sdk::row(sdk::Boolean{.name = "relaxed_ordering",
                          .help = "the NIC may place data out of order on PCIe; memory is never "
                                  "polled then"}),
    sdk::row(sdk::Text{.name = "cpu",
                       .help = "CPUs of the threads: 0+2 or 0-3 for both ends, initiator:responder "
                               "as 0-3:4-7; auto: not pinned"}),
    sdk::row(sdk::Integer{.name = "numa",
                          .help = "NUMA node of the message buffers; auto: not bound",
                          .allows_auto = true,
                          .minimum = 0,
                          .maximum = 1023,
                          .default_number = NB_AUTO}),
};

}  // namespace netbench::verbs
