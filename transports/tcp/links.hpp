#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "transports/sdk/host.hpp"
#include "transports/tcp/lifecycle.hpp"
#include "transports/tcp/options.hpp"
#include "transports/tcp/socket.hpp"

namespace netbench::tcp {

using Token = std::array<std::uint8_t, NB_TOKEN_BYTES>;

/// The responder's address blob: a header and one token for each connection, in their order.
[[nodiscard]] std::vector<std::uint8_t> encode_tokens(std::span<const Token> tokens);
/// Throws NB_FAILED where the blob is not one of this transport for `count` connections.
[[nodiscard]] std::vector<Token> decode_tokens(nb_blob blob, std::size_t count);

/// The data connections of one session, in the same order on both ends. cancel() is [any-thread],
/// all else [control-thread].
class Links {
 public:
  Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  /// Initiator: connects, hands in a token on each, applies the options. Throws.
  void connect_all(const Options& options, std::span<const Token> tokens, TimePoint deadline);
  /// Responder: takes what the initiator connected. Throws.
  void take_all(const Options& options, sdk::Host host, std::span<const Token> tokens,
                TimePoint deadline);

  /// Valid until this object ends; the sockets are in blocking mode.
  [[nodiscard]] std::span<const int> fds() const { return numbers_; }

  /// Shuts every connection down in both directions: blocked calls return, the peer sees the end.
  void shutdown_all() noexcept;
  /// shutdown_all(), and a connect_all() or take_all() under way throws NB_CANCELLED. [any-thread]
  void cancel() noexcept;

 private:
  void adopt(Fd fd);
  void await_connected(int fd, const Options& options, TimePoint deadline) const;
  [[nodiscard]] Fd take_one(const nb_rendezvous& rendezvous, sdk::Host host, const Token& token,
                            TimePoint deadline) const;

  Fd wake_;  // eventfd, readable once cancelled
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::vector<Fd> owned_;
  std::vector<int> numbers_;
};

}  // namespace netbench::tcp
