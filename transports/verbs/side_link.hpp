#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/sdk/host.hpp"
#include "transports/sdk/sockets.hpp"
#include "transports/verbs/lifecycle.hpp"
#include "transports/verbs/options.hpp"

namespace netbench::verbs {

using Token = std::array<std::uint8_t, NB_TOKEN_BYTES>;

/// One TCP connection beside the queue pairs, over the agent's port: what both ends have to tell
/// each other when RDMA cannot carry it, or must not. Nothing passes while a window is measured.
class SideLink {
 public:
  SideLink();
  SideLink(const SideLink&) = delete;
  SideLink& operator=(const SideLink&) = delete;

  /// Initiator: dials the agent and hands in the token. Throws. [control-thread]
  void dial(const Options& options, const Token& token, TimePoint deadline);
  /// Responder: takes what the initiator dialled. Throws. [control-thread]
  void take(sdk::Host host, const Token& token, TimePoint deadline);

  /// One message of at most 64 KiB each way: sends, then waits for the peer's. NB_TIMED_OUT at the
  /// deadline, NB_PEER_CLOSED, NB_CANCELLED. [control-thread]
  [[nodiscard]] std::vector<std::uint8_t> exchange(std::span<const std::uint8_t> mine,
                                                   TimePoint deadline);

  /// Whether the peer's end is closed and all it said was taken. [any-thread]
  [[nodiscard]] bool peer_gone() const noexcept;
  /// Whatever waits here throws NB_CANCELLED. [any-thread]
  void cancel() noexcept;

 private:
  void wait_for(short events, TimePoint deadline) const;
  void send_all(std::span<const std::uint8_t> bytes, TimePoint deadline);
  void receive_all(std::span<std::uint8_t> bytes, TimePoint deadline);

  sdk::Fd wake_;  // eventfd, readable once cancelled
  std::atomic<bool> cancelled_{false};
  sdk::Fd socket_;
};

}  // namespace netbench::verbs
