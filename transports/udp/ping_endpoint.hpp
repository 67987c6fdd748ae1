#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/sdk/clock.hpp"
#include "transports/udp/datagram.hpp"
#include "transports/udp/handshake.hpp"
#include "transports/udp/ping.hpp"

/// Both sides of a ping-pong of datagrams, by how they wait.
namespace netbench::udp {

/// No answer for this long: the datagram or its answer is lost.
inline constexpr std::int64_t kLostAfterNs = 100'000'000;

template <Wait wait>
inline constexpr int kReceiveFlags = wait == Wait::spin ? MSG_DONTWAIT : 0;

inline void add_one(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// What an endpoint works on; belongs to the session, the pings go on from batch to batch.
struct PingState {
  int fd;
  std::span<std::byte> payload;
  SequenceTracker& answers;
  std::uint64_t& sequence;
  PingCounts& counts;
  const std::atomic<bool>& halt;
};

/// The initiator's end, for sdk::ping_pong(). A loss ends that loop; lost_one() tells it from an
/// end, and the caller goes on.
template <Wait wait>
class PingEndpoint {
 public:
  explicit PingEndpoint(const PingState& state) noexcept : state_(state) {}

  [[nodiscard]] bool lost_one() const noexcept { return lost_; }
  [[nodiscard]] int sys_errno() const noexcept { return sys_errno_; }

  [[nodiscard]] bool send_message() noexcept {
    lost_ = false;
    if (state_.halt.load(std::memory_order_relaxed)) {
      return false;
    }
    expected_ = state_.sequence++;
    write_header(state_.payload.data(), {Kind::data, expected_, 0});
    while (::send(state_.fd, state_.payload.data(), state_.payload.size(), 0) < 0) {
      if (!may_go_on(errno)) {
        return false;
      }
    }
    add_one(state_.counts.sent);
    waiting_since_ns_ = 0;
    return true;
  }

  [[nodiscard]] bool receive_message() noexcept {
    for (int calls = 1;; ++calls) {
      const ssize_t got =
          ::recv(state_.fd, state_.payload.data(), state_.payload.size(), kReceiveFlags<wait>);
      if (got >= 0) {
        if (is_answer(static_cast<std::size_t>(got))) {
          return true;
        }
      } else if (!may_go_on(errno)) {
        return false;
      }
      if ((wait == Wait::block || calls % kCallsPerLook == 0) && gave_up()) {
        return false;
      }
    }
  }

 private:
  static constexpr int kCallsPerLook = 64;

  [[nodiscard]] bool may_go_on(int error) noexcept {
    if (error != EAGAIN && error != EINTR) {
      sys_errno_ = error;
      return false;
    }
    return !state_.halt.load(std::memory_order_relaxed);
  }

  /// The first look begins the wait, so that the clock is not read where answers come at once; a
  /// blocking call has waited for a slice by then.
  [[nodiscard]] bool gave_up() noexcept {
    const std::int64_t now_ns = sdk::MonotonicClock::now_ns();
    if (waiting_since_ns_ == 0) {
      waiting_since_ns_ = now_ns - (wait == Wait::block ? kSliceNs : 0);
      return false;
    }
    lost_ = now_ns - waiting_since_ns_ >= kLostAfterNs;
    if (lost_) {
      add_one(state_.counts.lost);
    }
    return lost_;
  }

  /// Answers to earlier datagrams are counted and skipped.
  [[nodiscard]] bool is_answer(std::size_t size) noexcept {
    const auto header = read_header(state_.payload.first(size));
    if (!header || header->kind != Kind::data || size != state_.payload.size() ||
        header->sequence > expected_) {
      return false;
    }
    switch (state_.answers.note(header->sequence)) {
      case Fate::fresh:
        if (header->sequence == expected_) {
          add_one(state_.counts.received);
          return true;
        }
        [[fallthrough]];
      case Fate::reordered:
      case Fate::late:
        add_one(state_.counts.late);
        return false;
      case Fate::duplicate:
        add_one(state_.counts.duplicates);
        return false;
    }
    return false;
  }

  PingState state_;
  std::uint64_t expected_ = 0;
  std::int64_t waiting_since_ns_ = 0;
  bool lost_ = false;
  int sys_errno_ = 0;
};

struct EchoPlan {
  int fd;
  Token token;
  PingCounts& counts;
  const std::atomic<bool>& quit;
  std::span<std::byte> buffer;
};

/// The responder's end: sends every datagram back as it came, and answers greetings, until `quit`.
/// Returns 0, or the errno that ended it.
template <Wait wait>
[[nodiscard]] int echo_datagrams(const EchoPlan& plan) noexcept {
  while (!plan.quit.load(std::memory_order_relaxed)) {
    const ssize_t got =
        ::recv(plan.fd, plan.buffer.data(), plan.buffer.size(), kReceiveFlags<wait>);
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) {
        return errno;
      }
      continue;
    }
    const auto datagram =
        std::span<const std::byte>(plan.buffer).first(static_cast<std::size_t>(got));
    const auto header = read_header(datagram);
    if (header && header->kind == Kind::data) {
      add_one(plan.counts.received);
      if (::send(plan.fd, datagram.data(), datagram.size(), 0) == got) {
        add_one(plan.counts.sent);
      }
    } else if (is_greeting(datagram, kHelloMagic, plan.token)) {
      answer_greeting(plan.fd, plan.token);
    }
  }
  return 0;
}

}  // namespace netbench::udp
