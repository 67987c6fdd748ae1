#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "transports/abi/nb_transport.h"
#include "transports/sdk/host.hpp"

namespace netbench::sim {

/// What the two ends tell each other at the end: payload bytes, 0 where an end cannot know.
struct Totals {
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
};

/// The one real connection of a simulated session, over the harness's rendezvous. It carries only
/// the Totals and the fact that the peer is still there. Without a rendezvous (a test of one end)
/// there is no connection: waiting ends by close_down() or cancel() alone, and exchange() returns
/// at once.
class Link {
 public:
  Link(sdk::Host host, const nb_open_args& args);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// The responder's token; empty for the initiator and where there is no rendezvous.
  [[nodiscard]] nb_blob describe();
  /// Throws NB_CANCELLED, NB_TIMED_OUT after the session's deadline, NB_FAILED.
  void connect(const nb_blob& peer);

  /// Waits until the peer or this end is at its end. Throws NB_CANCELLED, NB_PEER_CLOSED.
  void wait_for_end();
  /// Makes wait_for_end() return. [any-thread]
  void close_down() noexcept;
  /// Sends `own` and returns the peer's. Throws NB_CANCELLED, NB_PEER_CLOSED, NB_TIMED_OUT.
  [[nodiscard]] Totals exchange(const Totals& own, std::int64_t timeout_ns);

  void cancel() noexcept;  // [any-thread]
  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

 private:
  void dial(const nb_blob& token);
  void accept();
  /// Until the connection is ready for `events`: false after `timeout_ns` (never for a negative).
  bool wait_for(short events, std::int64_t timeout_ns) const;

  sdk::Host host_;
  nb_role role_;
  std::int64_t deadline_ns_;
  std::vector<std::uint8_t> peer_address_;
  std::array<std::uint8_t, NB_TOKEN_BYTES> token_{};
  int fd_ = -1;
  int cancel_event_;
  int end_event_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> closing_{false};
};

}  // namespace netbench::sim
