#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/sdk/loops.hpp"
#include "transports/udp/datagram.hpp"
#include "transports/udp/pacer.hpp"

namespace netbench::udp {

struct SenderPlan {
  int fd = -1;
  std::int64_t message_bytes = 0;
  std::size_t slots = 1;  // datagrams of one system call
  Pacer::Plan pace;
  bool gso = false;  // UDP_SEGMENT is set on the socket
  bool spin = false;
};

/// The sending side of one stream. run() belongs to one thread; the readings are [any-thread].
class Sender {
 public:
  explicit Sender(const SenderPlan& plan);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Touches the buffers, on the thread that will run().
  void prepare() noexcept;
  /// Sends until `stop`; returns 0, or the errno that ended it.
  [[nodiscard]] int run(const std::atomic<bool>& stop) noexcept;

  /// Datagrams handed to the kernel.
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return sent_.load(std::memory_order_acquire);
  }
  /// Schedule given up because the sender or its socket was stalled.
  [[nodiscard]] std::int64_t pacing_lost_ns() const noexcept {
    return pacing_lost_ns_.load(std::memory_order_relaxed);
  }

 private:
  void wait_until(std::int64_t until_ns) const noexcept;
  void stamp(std::size_t count, std::int64_t now_ns) noexcept;
  /// Datagrams sent of `count`; 0 where the socket is full for now; -1 with errno.
  [[nodiscard]] std::int64_t send(std::size_t count) noexcept;
  [[nodiscard]] std::int64_t send_segmented(std::size_t count) const noexcept;

  SenderPlan plan_;
  Pacer pacer_;
  std::vector<std::byte> payload_;  // slots one after the other
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> messages_;
  std::uint64_t sequence_ = 0;
  alignas(sdk::kPrivateLineBytes) std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::int64_t> pacing_lost_ns_{0};
};

}  // namespace netbench::udp
