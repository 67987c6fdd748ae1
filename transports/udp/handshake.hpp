#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/host.hpp"
#include "transports/udp/datagram.hpp"
#include "transports/udp/options.hpp"
#include "transports/udp/socket.hpp"

/// How the sockets of two ends find each other over the agent's one UDP port. [control-thread]
namespace netbench::udp {

/// The tokens of a point, as the address blob of the responder.
[[nodiscard]] std::vector<std::uint8_t> write_blob(std::span<const Token> tokens);
/// Throws NB_FAILED for anything but a blob with `count` tokens.
[[nodiscard]] std::vector<Token> read_blob(std::span<const nb_blob> peers, std::size_t count);

/// The harness's service; throws NB_UNAVAILABLE where there is none.
[[nodiscard]] const nb_datagram_rendezvous& rendezvous(sdk::Host host);
[[nodiscard]] std::vector<Token> issue_tokens(sdk::Host host, std::size_t count);

/// When to give up waiting.
struct Patience {
  std::int64_t until_ns = 0;  // CLOCK_MONOTONIC
  const std::atomic<bool>& cancelled;
};

/// Initiator: sends each socket's greeting, again and again, until all are answered.
void greet(std::span<const Fd> sockets, std::span<const Token> tokens, const Options& options,
           const Patience& patience);
/// Responder: the sockets of the initiator's greetings, each answered once. Whoever reads them
/// answers greetings that are repeated.
[[nodiscard]] std::vector<Fd> take_sockets(sdk::Host host, std::span<const Token> tokens,
                                           const Options& options, const Patience& patience);
void answer_greeting(int fd, const Token& token) noexcept;

}  // namespace netbench::udp
