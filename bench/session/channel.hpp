#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bench/core/clock.hpp"
#include "bench/core/result.hpp"
#include "bench/session/address.hpp"
#include "bench/session/frame.hpp"
#include "bench/session/stream.hpp"
#include "bench/session/wake.hpp"

namespace netbench::session {

/// Silence after which a peer counts as lost: an agent lets go sooner than its client, so that it
/// is free again when the client reports the loss.
inline constexpr Nanoseconds kAgentSilence = std::chrono::seconds(4);
inline constexpr Nanoseconds kClientSilence = std::chrono::seconds(6);

struct ChannelOptions {
  Nanoseconds silence = kClientSilence;
  Nanoseconds heartbeat = std::chrono::seconds(1);
  std::size_t max_frame = kMaxFrame;
  std::size_t max_queued_bytes = 4 * kMaxFrame;  // of each direction
};

/// One connected control connection. A thread of its own, which alone touches the socket and TLS,
/// sends what was queued, sends a heartbeat every second and notices when those of the peer stop.
class Channel {
 public:
  /// Takes over a stream whose handshake is done, and what has been read from it beyond that.
  Channel(Stream stream, FrameDecoder decoder, const ChannelOptions& options);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  /// close() with its default time.
  ~Channel();

  /// Queues a message; does not wait for the network. Errors: `peer-lost`, `peer-closed`,
  /// `frame-too-large`, `bad-frame`, `send-queue-full`. [any-thread]
  [[nodiscard]] Status send(const Message& message);

  /// The next message; those that came before an end of the connection are delivered first. Errors:
  /// `control-timeout` (the deadline), `cancelled`, `peer-lost` (silence, or the network failed),
  /// `peer-closed`, `frame-too-large`, `bad-frame`. One thread at a time.
  [[nodiscard]] Result<Message> receive(const Deadline& deadline);

  /// Wakes the receive() in progress, or else the next one, with `cancelled`; once. [any-thread]
  void cancel();

  /// True once the peer is lost or has closed, or this end has. [any-thread]
  [[nodiscard]] bool ended() const;
  /// Why, where ended() came from outside. [any-thread]
  [[nodiscard]] std::optional<Error> end_reason() const;

  /// Orderly end: sends what is queued, says so to the peer, waits for the peer to close as well;
  /// all of it within `limit`. Later calls do nothing.
  void close(Nanoseconds limit = std::chrono::seconds(1));

  [[nodiscard]] const SocketAddress& local() const { return local_; }
  [[nodiscard]] const SocketAddress& peer() const { return peer_; }
  [[nodiscard]] bool secure() const { return secure_; }

 private:
  enum class Step { go_on, stop };

  void io_loop();
  void wait_for_events();
  [[nodiscard]] int poll_timeout_ms() const;
  [[nodiscard]] Step pump_reads();
  [[nodiscard]] Step take_frames();
  void deliver(Message message);
  [[nodiscard]] Step pump_writes();
  [[nodiscard]] bool next_frame();
  [[nodiscard]] Step on_stream_end(IoState state);
  [[nodiscard]] Step check_time();
  [[nodiscard]] Step check_close(std::int64_t now);
  [[nodiscard]] bool reading_paused() const;
  [[nodiscard]] bool inbox_full() const;
  void end(Error error);

  Stream stream_;         // [IO thread] after construction, until it is joined
  FrameDecoder decoder_;  // [IO thread]
  ChannelOptions options_;
  SocketAddress local_;
  SocketAddress peer_;
  bool secure_;
  WakeFd wake_;

  // [IO thread]
  std::int64_t last_received_ns_;
  std::int64_t next_heartbeat_ns_;
  std::string writing_;
  std::size_t written_ = 0;
  bool want_write_ = false;
  bool more_to_read_ = false;
  bool shut_down_ = false;

  mutable std::mutex mutex_;
  std::condition_variable received_;
  std::deque<Message> inbox_;
  std::size_t inbox_bytes_ = 0;
  std::deque<std::string> outbox_;
  std::size_t outbox_bytes_ = 0;
  std::optional<Error> end_;
  std::optional<std::int64_t> close_by_ns_;
  bool cancelled_ = false;

  std::thread thread_;
};

}  // namespace netbench::session
