#pragma once

#include <array>
#include <cstdint>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/table.hpp"
#include "transports/udp/datagram.hpp"

/// What the UDP transport can do: its workloads and tunables, and the enums whose values are their
/// indices.
namespace netbench::udp {

enum class WorkloadId : std::uint32_t { latency = 0, bandwidth = 1, message_rate = 2 };
enum class Wait : std::int64_t { block = 0, spin = 1 };

/// Tokens of 16 bytes and a header fit into the 64 KiB of an address blob.
inline constexpr std::int64_t kMaxStreams = 1024;
inline constexpr std::int64_t kMaxBatch = 1024;

inline constexpr std::uint64_t bit(WorkloadId id) {
  return sdk::applies_to(static_cast<unsigned>(id));
}
inline constexpr std::uint64_t kStreams =
    bit(WorkloadId::bandwidth) | bit(WorkloadId::message_rate);

inline constexpr std::uint32_t kAllDirections = NB_FORWARD | NB_REVERSE | NB_BOTH;

// 1448 B fills no packet of MTU 1500 but fits with IPv4 (1472) and IPv6 (1452), and is what a TCP
// segment with timestamps carries, so that rows compare. Larger datagrams are fragmented by IP.
inline constexpr std::array kWorkloadRows = {
    sdk::row(sdk::Workload{.name = "latency",
                           .summary = "closed-loop ping-pong: round trip of one datagram; a lost "
                                      "one is counted after 100 ms and is no sample",
                           .pattern = NB_PING_PONG,
                           .min_message_bytes = kHeaderBytes,
                           .max_message_bytes = kMaxDatagramBytes,
                           .default_sizes = "64,1448",
                           .quick_sizes = "64"}),
    sdk::row(sdk::Workload{.name = "bandwidth",
                           .summary = "paced datagrams: payload that reached the receiver once, "
                                      "with loss, drops of its own socket, reordering and jitter",
                           .pattern = NB_STREAM,
                           .directions = kAllDirections,
                           .min_message_bytes = kHeaderBytes,
                           .max_message_bytes = kMaxDatagramBytes,
                           .default_sizes = "1448",
                           .quick_sizes = "1448"}),
    sdk::row(sdk::Workload{.name = "message_rate",
                           .summary = "paced small datagrams: datagrams per second that reached "
                                      "the receiver once",
                           .pattern = NB_RATE,
                           .directions = kAllDirections,
                           .min_message_bytes = kHeaderBytes,
                           .max_message_bytes = kMaxDatagramBytes,
                           .default_sizes = "64",
                           .quick_sizes = "64"}),
};

inline constexpr std::array kWaitChoices = {
    nb_choice{"block", "sleep in the kernel until data arrives or a datagram is due"},
    nb_choice{"spin", "non-blocking calls in a loop; burns a core, paces to the microsecond"},
};

inline constexpr std::array kTunableRows = {
    sdk::row(sdk::Integer{.name = "rate",
                          .help = "payload per direction over all streams; auto: not paced, floods "
                                  "the path",
                          .unit = NB_UNIT_BITS_PER_SECOND,
                          .allows_auto = true,
                          .minimum = 1000,
                          .maximum = 1'000'000'000'000,
                          .default_number = 1'000'000'000,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "sndbuf",
                          .help = "SO_SNDBUF, as asked for; the kernel doubles it",
                          .unit = NB_UNIT_BYTES,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 1 << 30,
                          .default_number = NB_AUTO}),
    sdk::row(sdk::Integer{.name = "rcvbuf",
                          .help = "SO_RCVBUF, as asked for; the kernel doubles it",
                          .unit = NB_UNIT_BYTES,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .allows_auto = true,
                          .minimum = 1,
                          .maximum = 1 << 30,
                          .default_number = NB_AUTO}),
    sdk::row(sdk::Integer{.name = "streams",
                          .help = "sockets at once, a sending and a receiving thread each",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .minimum = 1,
                          .maximum = kMaxStreams,
                          .default_number = 1,
                          .workloads = kStreams}),
    sdk::row(sdk::Integer{.name = "batch",
                          .help = "datagrams per system call at most (sendmmsg, recvmmsg), and per "
                                  "burst after a stall",
                          .unit = NB_UNIT_COUNT,
                          .scale = NB_SCALE_POWER_OF_TWO,
                          .minimum = 1,
                          .maximum = kMaxBatch,
                          .default_number = 32,
                          .workloads = kStreams}),
    sdk::row(sdk::Boolean{.name = "gso",
                          .help = "UDP_SEGMENT: the kernel or the NIC cuts one large send into "
                                  "datagrams",
                          .workloads = kStreams}),
    sdk::row(sdk::Choice{.name = "wait",
                         .help = "how an end waits for data, and for the time to send",
                         .choices = kWaitChoices.data(),
                         .choice_count = kWaitChoices.size()}),
    sdk::row(sdk::Text{.name = "cpu",
                       .help = "CPUs of the threads: 0+2 or 0-3 for both ends, initiator:responder "
                               "as 0-3:4-7; auto: not pinned"}),
    sdk::row(sdk::Text{.name = "bind",
                       .help = "source address or interface of the initiator's sockets"}),
    sdk::row(sdk::Integer{.name = "dscp",
                          .help = "differentiated services code point of both ends (RFC 2474)",
                          .minimum = 0,
                          .maximum = 63}),
};

}  // namespace netbench::udp
