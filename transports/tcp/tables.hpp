#pragma once

#include <array>
#include <cstdint>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/table.hpp"

/// What the TCP transport can do: its workloads and tunables, and the enums whose values are their
/// indices.
namespace netbench::tcp {

enum class WorkloadId : std::uint32_t {
  latency = 0,
  bandwidth = 1,
  message_rate = 2,
  loaded_latency = 3,
  connect = 4,
};
enum class Wait : std::int64_t { block = 0, spin = 1 };
enum class Mode : std::int64_t { copy = 0, sendfile = 1, vmsplice = 2, zerocopy = 3 };
enum class Receive : std::int64_t { copy = 0, discard = 1 };
enum class LoadDirection : std::int64_t { forward = 0, reverse = 1, both = 2 };

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

/// Tokens of 16 bytes and a header fit into the 64 KiB of an address blob.
inline constexpr std::int64_t kMaxConnections = 4000;

/// Of read_rate and write_rate, bit/s. At the least one, a window of 64 KiB empties in half a
/// second.
inline constexpr std::int64_t kSlowestApplication = 1'000'000;
inline constexpr std::int64_t kFastestApplication = 10'000'000'000'000;

inline constexpr std::uint64_t bit(WorkloadId id) {
  return sdk::applies_to(static_cast<unsigned>(id));
}

inline constexpr std::uint64_t kPingPongs =
    bit(WorkloadId::latency) | bit(WorkloadId::loaded_latency);
inline constexpr std::uint64_t kStreams =
    bit(WorkloadId::bandwidth) | bit(WorkloadId::message_rate);
inline constexpr std::uint64_t kConnected = kPingPongs | kStreams;

inline constexpr std::uint32_t kAllDirections = NB_FORWARD | NB_REVERSE | NB_BOTH;

inline constexpr std::array kWorkloadRows = {
    sdk::row(sdk::Workload{.name = "latency",
                           .summary = "closed-loop ping-pong: round trip of one message",
                           .pattern = NB_PING_PONG,
                           .max_message_bytes = kGiB,
                           .default_sizes = "64,1K,64K",
                           .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "bandwidth",
                           .summary = "stream: bytes the receiver's kernel has, over its own clock",
                           .pattern = NB_STREAM,
                           .directions = kAllDirections,
                           .max_message_bytes = kGiB,
                           .default_sizes = "8K,128K,1M",
                           .quick_sizes = "128K,1M"}),
    sdk::row(
        sdk::Workload{.name = "message_rate",
                      .summary = "stream of small messages, one send each: messages per second",
                      .pattern = NB_RATE,
                      .directions = kAllDirections,
                      .max_message_bytes = kMiB,
                      .default_sizes = "64",
                      .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "loaded_latency",
                           .summary = "open-loop paced messages beside bulk streams: time from the "
                                      "intended send to the answer",
                           .pattern = NB_PING_PONG,
                           .max_message_bytes = kMiB,
                           .default_sizes = "64",
                           .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "connect",
                           .summary = "connection set-up: socket() to the end of connect()",
                           .pattern = NB_PING_PONG,
                           .min_message_bytes = 0,
                           .max_message_bytes = kMiB,
                           .default_sizes = "1",
                           .quick_sizes = "1"}),
};

inline constexpr std::array kWaitChoices = {
    nb_choice{"block", "sleep in the kernel until data arrives"},
    nb_choice{"spin", "non-blocking calls in a loop; burns a core, avoids the wake-up"},
};
inline constexpr std::array kModeChoices = {
    nb_choice{"copy", "send() from a buffer"},
    nb_choice{"sendfile", "sendfile() from memory (memfd): no copy, one call a message"},
    nb_choice{"vmsplice", "vmsplice() of user pages and splice(): no copy, two calls a message"},
    nb_choice{"zerocopy", "send(MSG_ZEROCOPY): the kernel may still copy; the share is counted"},
};
inline constexpr std::array kReceiveChoices = {
    nb_choice{"copy", "recv() into a buffer"},
    nb_choice{"discard", "recv(MSG_TRUNC): the kernel drops the bytes uncopied"},
};
inline constexpr std::array kLoadDirectionChoices = {
    nb_choice{"forward", "the initiator sends the bulk"},
    nb_choice{"reverse", "the responder sends the bulk"},
    nb_choice{"both", "both send on every bulk stream"},
};

inline constexpr std::array kTunableRows = {
    sdk::row(sdk::Integer{.name = "sndbuf",
                          .help = "SO_SNDBUF of the sender, as asked for; the kernel doubles it",
                          .unit = NB_UNIT_BYTES,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = kGiB,
                          .default_number = NB_AUTO,
                          .workloads = kConnected}),
    sdk::row(
        sdk::Integer{.name = "rcvbuf",
                     .help = "SO_RCVBUF set before the connection is made; the kernel doubles it",
                     .unit = NB_UNIT_BYTES,
                     .scale = NB_SCALE_POWER_OF_TWO,
                     .allows_auto = true,
                     .minimum = 1,
                     .maximum = kGiB,
                     .default_number = NB_AUTO,
                     .workloads = kConnected,
                     .sweep = "256K",
                     .sweep_workloads = bit(WorkloadId::bandwidth)}),
    // 88 and 32767: TCP_MIN_MSS and MAX_TCP_WINDOW of Linux, net/ipv4/tcp.c (TCP_MAXSEG).
    sdk::row(sdk::Integer{.name = "mss",
                          .help = "TCP_MAXSEG set before the connection is made",
                          .unit = NB_UNIT_BYTES,
                          .allows_auto = true,
                          .minimum = 88,
                          .maximum = 32767,
                          .default_number = NB_AUTO,
                          .workloads = kConnected}),
    sdk::row(sdk::Boolean{.name = "nodelay",
                          .help = "TCP_NODELAY: send small messages at once (off: Nagle)",
                          .default_value = true,
                          .workloads = kConnected}),
    sdk::row(sdk::Text{.name = "congestion",
                       .help = "congestion control by name (cubic, bbr, reno) on both ends",
                       .workloads = kConnected}),
    sdk::row(sdk::Integer{.name = "streams",
                          .help = "connections at once, one thread each",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .minimum = 1,
                          .maximum = kMaxConnections,
                          .default_number = 1,
                          .workloads = kStreams,
                          .sweep = "4",
                          .sweep_workloads = bit(WorkloadId::bandwidth)}),
    sdk::row(sdk::Choice{.name = "wait",
                         .help = "how an end waits for data",
                         .choices = kWaitChoices.data(),
                         .choice_count = kWaitChoices.size(),
                         .workloads = kPingPongs,
                         .sweep = "spin",
                         .sweep_workloads = bit(WorkloadId::latency)}),
    sdk::row(sdk::Choice{.name = "mode",
                         .help = "how the sender hands data to the kernel; sendfile and vmsplice: "
                                 "whole segments from 64K on (TCP_CORK)",
                         .choices = kModeChoices.data(),
                         .choice_count = kModeChoices.size(),
                         .workloads = bit(WorkloadId::bandwidth)}),
    sdk::row(sdk::Choice{.name = "receive",
                         .help = "how the receiver takes data",
                         .choices = kReceiveChoices.data(),
                         .choice_count = kReceiveChoices.size(),
                         .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "lowat",
                          .help =
                              "SO_RCVLOWAT: bytes that wake the receiver; auto: a quarter of the "
                              "kernel's buffer up to 1M, and 1 where rcvbuf is set",
                          .unit = NB_UNIT_BYTES,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = kGiB,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Text{.name = "cpu",
                       .help = "CPUs of the threads: 0+2 or 0-3 for both ends, initiator:responder "
                               "as 0-3:4-7; auto: not pinned"}),
    sdk::row(sdk::Text{.name = "bind",
                       .help = "source address or interface of the initiator's connections"}),
    sdk::row(sdk::Integer{.name = "dscp",
                          .help = "differentiated services code point of both ends (RFC 2474)",
                          .minimum = 0,
                          .maximum = 63}),
    sdk::row(sdk::Integer{.name = "pacing",
                          .help = "SO_MAX_PACING_RATE of each sending connection",
                          .unit = NB_UNIT_BITS_PER_SECOND,
                          .allows_auto = true,
                          .minimum = 8000,
                          .maximum = 10'000'000'000'000,
                          .default_number = NB_AUTO,
                          .workloads = kConnected}),
    sdk::row(sdk::Integer{.name = "busy_poll",
                          .help = "SO_BUSY_POLL: how long a blocking receive polls the NIC's queue",
                          .unit = NB_UNIT_NANOSECONDS,
                          .allows_auto = true,
                          .minimum = 0,
                          .maximum = 10'000'000,
                          .default_number = NB_AUTO,
                          .workloads = kPingPongs}),
    sdk::row(sdk::Integer{.name = "load",
                          .help = "bulk streams beside the paced messages",
                          .unit = NB_UNIT_COUNT,
                          .minimum = 0,
                          .maximum = kMaxConnections - 1,
                          .default_number = 1,
                          .workloads = bit(WorkloadId::loaded_latency)}),
    sdk::row(sdk::Choice{.name = "load_direction",
                         .help = "who sends the bulk",
                         .choices = kLoadDirectionChoices.data(),
                         .choice_count = kLoadDirectionChoices.size(),
                         .workloads = bit(WorkloadId::loaded_latency)}),
    sdk::row(sdk::Integer{.name = "rate",
                          .help = "paced messages a second",
                          .unit = NB_UNIT_COUNT,
                          .minimum = 1,
                          .maximum = 1'000'000,
                          .default_number = 5000,
                          .workloads = bit(WorkloadId::loaded_latency)}),
    sdk::row(sdk::Integer{.name = "read_rate",
                          .help = "a slow application: its streams together take at most this; "
                                  "auto: as much as arrives",
                          .unit = NB_UNIT_BITS_PER_SECOND,
                          .allows_auto = true,
                          .minimum = kSlowestApplication,
                          .maximum = kFastestApplication,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "write_rate",
                          .help = "a slow application: its streams together offer at most this; "
                                  "auto: as much as the kernel takes",
                          .unit = NB_UNIT_BITS_PER_SECOND,
                          .allows_auto = true,
                          .minimum = kSlowestApplication,
                          .maximum = kFastestApplication,
                          .default_number = NB_AUTO,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "writes",
                          .help = "send() calls that a message is split into, for what Nagle makes "
                                  "of them beside delayed acknowledgements (nodelay off)",
                          .unit = NB_UNIT_COUNT,
                          .minimum = 1,
                          .maximum = 16,
                          .default_number = 1,
                          .workloads = bit(WorkloadId::latency)}),
};

}  // namespace netbench::tcp
