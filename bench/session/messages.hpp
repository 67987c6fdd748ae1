#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/core/result.hpp"
#include "bench/model/document.hpp"
#include "bench/plan/plan.hpp"
#include "bench/session/channel.hpp"

namespace netbench::session {

// The measuring protocol, after the hello. The client (initiator) asks, the agent (responder)
// answers every request with the reply named beside it, or with an ErrorReply. One visit is:
// open → opened, connect → connected, start → started, [observed], stop → stopped.

/// Who are you, seen from here? → HostReply.
struct HostRequest {
  int client_pid = 0;             // so that on one machine it does not count as foreign load
  std::int64_t lldp_wait_ns = 0;  // listen so long for the names of switches, at most 2 min
};
struct HostReply {
  HostInfo host;
  int agent_pid = 0;
  bool allow_knobs = false;           // the agent was started with --allow-knobs
  std::string knobs_refused_because;  // "" where it can change the MTU
};

/// What time is it with you? Answered at once → ClockReply.
struct ClockRequest {};
struct ClockReply {
  std::int64_t utc_ns = 0;  // CLOCK_REALTIME of the agent
};

/// What have you seen of a client that could not connect from there to that address? Asked twice,
/// over another address, with the attempt in between → WitnessReply.
struct WitnessRequest {
  std::string client_address;  // numeric: where the attempt came from; "" where not known
  std::string address;         // numeric: where it went
  std::uint16_t port = 0;
};
struct WitnessReply {
  std::string listens_on;    // "0.0.0.0:18550 [::]:18550"; "" where nothing listens on that port
  std::string way_back;      // interface by which answers would leave; "" where there is no route
  bool has_address = false;  // the address is one of the agent's host
  // Since boot, of the whole host (RFC 4022, RFC 4293, proc(5)).
  std::int64_t out_rsts = 0;
  std::int64_t listen_overflows = 0;
  std::int64_t reverse_path_drops = 0;
};

/// Serve path probes over UDP → PathProbeReply.
struct PathProbeRequest {};
struct PathProbeReply {
  std::vector<std::uint8_t> token;                     // 16 bytes, to be carried by every probe
  std::vector<std::vector<std::uint8_t>> echo_tokens;  // of TCP connections that are sent back
  std::uint16_t udp_port = 0;                          // 0: no UDP socket; `note` says why
  std::string note;
};

/// Set the MTU of the interface towards the client; 0 restores the original → MtuReply.
struct MtuRequest {
  std::int64_t mtu_bytes = 0;
  bool force = false;  // even where it carries the default route or an SSH session
};
struct MtuReply {
  std::int64_t before_bytes = 0;
  std::int64_t now_bytes = 0;
};

/// Open the responder's end of a point → OpenReply.
struct OpenRequest {
  plan::TestPoint point;
  std::uint64_t seed = 0;
  std::int64_t deadline_ns = 0;  // for open and connect together
};
struct OpenReply {
  std::vector<std::uint8_t> blob;
};

/// Connect to the initiator's end, while it connects too → ConnectReply.
struct ConnectRequest {
  std::vector<std::uint8_t> blob;
};
struct ConnectReply {
  ValueMap effective;  // full names
  std::vector<std::string> notes;
  bool capped = false;
  std::string method;
};

/// Begin to run; `limits` for the end that observes a stream → StartReply, and later Observed
/// where this end receives a stream.
struct StartRequest {
  std::int64_t min_time_ns = 0;
  std::int64_t max_time_ns = 0;
  double precision = 0;
};
struct StartReply {};
struct Observed {
  std::optional<StreamRecord> stream;
  std::optional<Error> error;  // the responder's end failed before it was stopped
};

/// Orderly end of the visit; its connections are gone afterwards → StopReply.
struct StopRequest {
  std::int64_t timeout_ns = 0;
};
struct StopReply {
  EndRecord end;
  std::string stop_error;  // "" or why the end was not orderly
};

/// Drop the visit, whatever its state → AbortReply.
struct AbortRequest {};
struct AbortReply {};

/// The request failed; the connection stays usable.
struct ErrorReply {
  Error error;
};

/// Between a struct above and a message. decode() errors: `protocol` where the type is another or
/// the body does not fit; an ErrorReply's own error where one came instead.
template <class T>
struct Codec {
  [[nodiscard]] static Message encode(const T& value);
  [[nodiscard]] static Result<T> decode(const Message& message);
  [[nodiscard]] static bool matches(const Message& message);
};

template <class T>
[[nodiscard]] Message to_message(const T& value) {
  return Codec<T>::encode(value);
}

template <class T>
[[nodiscard]] Result<T> from_message(const Message& message) {
  return Codec<T>::decode(message);
}

/// Sends a request and waits for its reply.
template <class Reply, class Request>
[[nodiscard]] Result<Reply> ask(Channel& channel, const Request& request, Nanoseconds timeout) {
  if (auto sent = channel.send(to_message(request)); !sent) {
    return tl::unexpected(sent.error());
  }
  auto message = channel.receive(Deadline::after(timeout));
  if (!message) {
    return tl::unexpected(message.error());
  }
  return from_message<Reply>(*message);
}

}  // namespace netbench::session
