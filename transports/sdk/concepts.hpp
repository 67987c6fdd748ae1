#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/clock.hpp"

/// What the loops of loops.hpp ask of an endpoint. An endpoint is one end of one connection with
/// all options already chosen: its type is picked once, from a table of instantiations, so that the
/// loop holds no branch on an option and no indirect call. Nothing below throws, allocates, locks
/// or logs.
namespace netbench::sdk {

/// One message in flight at a time. Both calls move one whole message and return true, or return
/// false when the connection ended or was cancelled; the endpoint keeps the reason.
template <class E>
concept PingPongEndpoint = requires(E& endpoint) {
  { endpoint.send_message() }
  noexcept->std::same_as<bool>;
  { endpoint.receive_message() }
  noexcept->std::same_as<bool>;
};

enum class Arrival { message, nothing, ended };

/// Many messages in flight, answered in order. receive_until() waits for one whole answer no longer
/// than the given time of the loop's clock.
template <class E>
concept PacedEndpoint = requires(E& endpoint, std::int64_t until_ns) {
  { endpoint.send_message() }
  noexcept->std::same_as<bool>;
  { endpoint.receive_until(until_ns) }
  noexcept->std::same_as<Arrival>;
};

/// Hands over up to one message: bytes accepted (> 0), or ≤ 0 when the stream ended.
template <class E>
concept StreamSender = requires(E& endpoint) {
  { endpoint.send_some() }
  noexcept->std::same_as<std::int64_t>;
};

/// Takes what has arrived: bytes (> 0), or ≤ 0 when the stream ended.
template <class E>
concept StreamReceiver = requires(E& endpoint) {
  { endpoint.receive_some() }
  noexcept->std::same_as<std::int64_t>;
};

/// One operation with a beginning, an end and an untimed clean-up (connection set-up).
template <class E>
concept TimedOperation = requires(E& endpoint) {
  { endpoint.perform() }
  noexcept->std::same_as<bool>;
  { endpoint.clean_up() }
  noexcept;
};

}  // namespace netbench::sdk
