#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/sdk/clock.hpp"
#include "transports/sdk/concepts.hpp"
#include "transports/sdk/loops.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/syscalls.hpp"
#include "transports/tcp/tables.hpp"

namespace netbench::tcp {

/// Payload of one connection: written by the thread that uses it, read by any.
struct alignas(sdk::kPrivateLineBytes) Traffic {
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};

  static void add(std::atomic<std::uint64_t>& counter, std::int64_t bytes) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(bytes),
                  std::memory_order_relaxed);
  }
};

/// One end of a ping-pong over a blocking socket; a spinning end asks with MSG_DONTWAIT until it
/// gets an answer. `patient` ends wait for ever (the responder), others for the stall limit.
template <Wait kWait>
class PingPongEnd {
 public:
  PingPongEnd(int fd, std::span<std::byte> message, Traffic& traffic, bool patient) noexcept
      : fd_(fd), message_(message), traffic_(&traffic), patient_(patient) {}

  [[nodiscard]] bool send_message() noexcept { return send_bytes(message_); }

  /// As send_message(), for a part of the message.
  [[nodiscard]] bool send_bytes(std::span<const std::byte> part) noexcept {
    std::size_t done = 0;
    while (true) {
      const std::int64_t moved = raw_send(fd_, part.data() + done, part.size() - done, kSendFlags);
      if (moved > 0) [[likely]] {
        Traffic::add(traffic_->sent, moved);
        done += static_cast<std::size_t>(moved);
        if (done == part.size()) [[likely]] {
          return true;
        }
      } else if (!keep_waiting(moved)) {
        return false;
      }
    }
  }

  [[nodiscard]] bool receive_message() noexcept {
    while (true) {
      const std::int64_t moved = receive(kReceiveFlags);
      if (moved > 0) [[likely]] {
        if (complete()) [[likely]] {
          return true;
        }
      } else if (!keep_waiting(moved)) {
        return false;
      }
    }
  }

  /// A whole answer, or nothing by `until_ns`. A blocking end sleeps in ppoll() until shortly
  /// before and spins the rest, so that the timer's slack does not delay what is due then.
  [[nodiscard]] sdk::Arrival receive_until(std::int64_t until_ns) noexcept {
    while (true) {
      const std::int64_t moved = receive(MSG_DONTWAIT);
      if (moved > 0 && complete()) {
        return sdk::Arrival::message;
      }
      if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) {
        error_ = moved == 0 ? 0 : errno;
        return sdk::Arrival::ended;
      }
      if (moved < 0) {
        const std::int64_t now = sdk::MonotonicClock::now_ns();
        if (now >= until_ns) {
          return sdk::Arrival::nothing;
        }
        if (!sleep_until(now, until_ns)) {
          return sdk::Arrival::ended;
        }
      }
    }
  }

  /// errno of what ended the connection, 0 where the peer closed it.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// Whether it ended inside a message.
  [[nodiscard]] bool inside_message() const noexcept { return have_ > 0; }

 private:
  static constexpr int kSendFlags =
      MSG_NOSIGNAL | (kWait == Wait::spin ? static_cast<int>(MSG_DONTWAIT) : 0);
  static constexpr int kReceiveFlags = kWait == Wait::spin ? MSG_DONTWAIT : MSG_WAITALL;
  static constexpr std::uint32_t kSpinsPerLook = 1 << 14;
  static constexpr std::int64_t kSpinBeforeDueNs = 60'000;  // the default timer slack is 50 µs

  std::int64_t receive(int flags) noexcept {
    const std::int64_t moved =
        raw_recv(fd_, message_.data() + have_, message_.size() - have_, flags);
    if (moved > 0) [[likely]] {
      Traffic::add(traffic_->received, moved);
      have_ += static_cast<std::size_t>(moved);
    }
    return moved;
  }

  bool complete() noexcept {
    if (have_ < message_.size()) {
      return false;
    }
    have_ = 0;
    spins_ = 0;
    return true;
  }

  bool keep_waiting(std::int64_t moved) noexcept {
    if (moved < 0 && errno == EINTR) {
      return true;
    }
    if (kWait == Wait::spin && moved < 0 && errno == EAGAIN) {
      return ++spins_ % kSpinsPerLook != 0 || patient_ || !stalled();
    }
    error_ = moved == 0 ? 0 : errno;
    return false;
  }

  bool stalled() noexcept {
    const std::int64_t now = sdk::MonotonicClock::now_ns();
    if (spins_ == kSpinsPerLook) {
      spinning_since_ns_ = now;
    }
    if (now - spinning_since_ns_ < kStallLimitNs) {
      return false;
    }
    error_ = ETIMEDOUT;
    return true;
  }

  /// False where nothing came for the stall limit.
  bool sleep_until(std::int64_t now, std::int64_t until_ns) noexcept {
    const bool limited = until_ns - now > kStallLimitNs;
    const std::int64_t wait_ns = limited ? kStallLimitNs : until_ns - now - kSpinBeforeDueNs;
    if (wait_ns <= 0 || (kWait == Wait::spin && !limited)) {
      return true;
    }
    pollfd ready{fd_, POLLIN, 0};
    const timespec timeout{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
    if (::ppoll(&ready, 1, &timeout, nullptr) == 0 && limited) {
      error_ = ETIMEDOUT;
      return false;
    }
    return true;
  }

  int fd_;
  std::span<std::byte> message_;
  Traffic* traffic_;
  std::size_t have_ = 0;
  std::uint32_t spins_ = 0;
  bool patient_;
  int error_ = 0;
  std::int64_t spinning_since_ns_ = 0;
};

/// An end that hands each message to the kernel in several calls, as an application that writes a
/// header and then a body does.
template <Wait kWait>
class SplitWriteEnd : public PingPongEnd<kWait> {
 public:
  SplitWriteEnd(int fd, std::span<std::byte> message, Traffic& traffic, bool patient,
                std::size_t writes) noexcept
      : PingPongEnd<kWait>(fd, message, traffic, patient),
        message_(message),
        writes_(std::min(writes, message.size())) {}

  [[nodiscard]] bool send_message() noexcept {
    std::size_t begin = 0;
    for (std::size_t write = 1; write <= writes_; ++write) {
      const std::size_t end = message_.size() * write / writes_;
      if (!this->send_bytes(message_.subspan(begin, end - begin))) {
        return false;
      }
      begin = end;
    }
    return true;
  }

 private:
  std::span<const std::byte> message_;
  std::size_t writes_;
};

static_assert(sdk::PingPongEndpoint<PingPongEnd<Wait::spin>>);
static_assert(sdk::PingPongEndpoint<SplitWriteEnd<Wait::block>>);
static_assert(sdk::PacedEndpoint<PingPongEnd<Wait::block>>);

}  // namespace netbench::tcp
