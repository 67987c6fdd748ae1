#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/sdk/loops.hpp"
#include "transports/udp/datagram.hpp"
#include "transports/udp/tracker.hpp"

namespace netbench::udp {

struct ReceiverPlan {
  int fd = -1;
  std::int64_t message_bytes = 0;
  std::size_t slots = 1;  // datagrams of one system call
  Token token{};          // of the greeting that a responder answers
  bool spin = false;
};

/// What a receiver has seen, written by its thread alone after each system call, read by any.
struct alignas(sdk::kPrivateLineBytes) Seen {
  std::atomic<std::uint64_t> unique{0};
  std::atomic<std::int64_t> last_arrival_ns{0};  // when the thread got the latest datagram
  std::atomic<std::uint64_t> expected{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> late{0};
  std::atomic<double> jitter_ns{0};
  std::atomic<double> jitter_mean_ns{0};
};

/// The end of a stream, as the two ends tell each other. A total of -1: not yet told.
struct Ending {
  std::atomic<std::int64_t> peer_total{-1};  // datagrams that the peer says it sent
  std::atomic<std::int64_t> told_at_ns{0};   // when it said so last
  std::atomic<bool> acknowledged{false};     // the peer has this end's total
};

/// The reading side of one socket: takes data, answers greetings and ends. Every socket of a stream
/// has one, whether or not it gets data. run() belongs to one thread.
class Receiver {
 public:
  explicit Receiver(const ReceiverPlan& plan);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Touches the buffers, on the thread that will run().
  void prepare() noexcept;
  /// Reads until `stop`; returns 0, or the errno that ended it.
  [[nodiscard]] int run(const std::atomic<bool>& stop) noexcept;

  [[nodiscard]] const Seen& seen() const noexcept { return seen_; }
  [[nodiscard]] const Ending& ending() const noexcept { return ending_; }

 private:
  /// Room for a time stamp, and for whatever else the socket might be told to add.
  using Control = std::array<std::byte, 64>;

  void take(std::size_t index, std::int64_t now_ns) noexcept;
  void take_control(std::span<const std::byte> datagram, const Header& header,
                    std::int64_t now_ns) noexcept;
  void publish(std::int64_t now_ns) noexcept;

  ReceiverPlan plan_;
  std::vector<std::byte> payload_;  // slots one after the other
  std::vector<Control> controls_;
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> messages_;
  SequenceTracker tracker_;
  Jitter jitter_;
  Seen seen_;
  Ending ending_;
};

}  // namespace netbench::udp
